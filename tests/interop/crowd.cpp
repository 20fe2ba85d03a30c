// SPDX-License-Identifier: Apache-2.0
#include "interop/crowd.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <iterator>

#include <gtest/gtest.h>

namespace holdfast::interop {
namespace {

json::object described(const turn& how) {
    return {{"patience", how.timeout.count()},
            {"lease", how.lease.count()},
            {"hold", how.hold.count()},
            {"pause", how.pause.count()},
            {"depth", how.depth},
            {"cancel", how.cancel.count()},
            {"object", how.object},
            {"suffix", how.suffix},
            {"downgrade", how.downgrade},
            {"rest", how.rest.count()}};
}

std::filesystem::path new_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
        throw std::runtime_error{"cannot make a folder like " + pattern};
    return pattern;
}

/// Each worker draws other turns than all others.
int next_seed() {
    constexpr int more_than_threads = 1'000;
    static std::atomic<int> last = 0;
    return last += more_than_threads;
}

} // namespace

remote_crew::remote_crew(remote_client& of, int threads, const task& what,
                         std::filesystem::path histories)
    : of_{of} {
    for (int worker = 0; worker < threads; ++worker)
        tails_.emplace_back(files_.emplace_back(histories.string() + "." + std::to_string(worker)));
    json::array turns;
    for (const turn& each : what.turns)
        turns.push_back(described(each));
    of_.process().ask({{"do", "work"},
                       {"client", of_.label()},
                       {"crew", of_.label()},
                       {"work",
                        {{"threads", threads},
                         {"names", json::value_from(what.names)},
                         {"turns", turns},
                         {"history", histories.string()},
                         {"seed", next_seed()},
                         {"goes_on", what.goes_on}}}});
}

std::vector<std::string> remote_crew::new_grants() {
    std::vector<std::string> names;
    for (history_tail& each : tails_)
        std::ranges::move(each.new_grants(), std::back_inserter(names));
    return names;
}

// What ended a worker is no reason not to read what all of them wrote.
history remote_crew::stop() {
    std::optional<std::string> trouble;
    try {
        of_.process().ask({{"do", "stop"}, {"crew", of_.label()}});
    } catch (const peer_failure& failure) {
        trouble = of_.label() + ": " + failure.what();
    }
    history all = written({});
    if (trouble)
        all.troubles.push_back(*trouble);
    return all;
}

history remote_crew::written(std::optional<moment> killed_at) const {
    history all;
    for (const std::filesystem::path& file : files_)
        all.add(read_history(file, killed_at));
    return all;
}

party::party(party_kind kind, std::string label, task what, address where, client_settings settings,
             std::filesystem::path folder)
    : kind_{std::move(kind)}
    , label_{std::move(label)}
    , task_{std::move(what)}
    , where_{std::move(where)}
    , settings_{std::move(settings)}
    , folder_{std::move(folder)} {
    start();
}

void party::start() {
    const bool is_jvm = !kind_.redisson.empty();
    process_ = is_jvm                    ? start_jvm(kind_.redisson)
               : kind_.neighbour.empty() ? start_ours()
                                         : start_neighbour(kind_.neighbour);
    client_ = std::make_unique<remote_client>(*process_, is_jvm, where_, settings_);
    const std::string name = label_ + "." + std::to_string(++generation_);
    crew_ = std::make_unique<remote_crew>(*client_, kind_.threads, task_, folder_ / name);
}

std::map<std::string, permits_gone> party::kill_and_replace() {
    const moment killed_at = std::chrono::steady_clock::now().time_since_epoch();
    process_->kill();
    history last = crew_->killed(killed_at);
    std::map<std::string, permits_gone> gone = last.gone;
    told_by_killed_.add(std::move(last));
    crew_.reset();
    client_.reset();
    start();
    return gone;
}

history party::stop() {
    history all = crew_->stop();
    all.add(std::move(told_by_killed_));
    crew_.reset();
    client_.reset();
    process_.reset();
    return all;
}

history_folder::history_folder()
    : path{new_folder()} {}

history_folder::~history_folder() {
    if (testing::Test::HasFailure()) {
        std::cout << "the histories are kept in " << path << std::endl;
        return;
    }
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}

std::chrono::microseconds percentile(std::vector<std::chrono::microseconds> all, int percent) {
    if (all.empty())
        return {};
    const std::size_t last = all.size() - 1;
    const auto wanted =
        all.begin() + static_cast<std::ptrdiff_t>(last * static_cast<std::size_t>(percent) / 100);
    std::ranges::nth_element(all, wanted);
    return *wanted;
}

} // namespace holdfast::interop
