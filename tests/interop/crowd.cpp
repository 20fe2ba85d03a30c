// SPDX-License-Identifier: Apache-2.0
#include "interop/crowd.hpp"

#include "interop/meeting.hpp"

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

// If a worker ended with an error, the histories of all workers are still read.
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

namespace {

/// How long a JVM waits in the queue of a fair lock, which all of its waits there are told: so long
/// it keeps the others waiting if it is killed. Older versions have no setting for that.
constexpr duration in_queue = 3s;

std::vector<turn> at(const std::string& object, const std::string& suffix,
                     std::vector<turn> turns) {
    for (turn& each : turns) {
        each.object = object;
        each.suffix = suffix;
        each.pause = 3ms;
        if (each.hold == duration::zero())
            each.hold = 3ms;
    }
    return turns;
}

const std::vector<turn>& plain_turns() {
    static const std::vector<turn> turns = at("getLock", "",
                                              {{},
                                               {},
                                               {.depth = 3},
                                               {.timeout = 0ms},
                                               {.timeout = 20ms},
                                               {.lease = 5s},
                                               {.timeout = 50ms, .lease = 5s, .depth = 2},
                                               {.lease = 30ms, .hold = 60ms}, // may end before
                                               {.cancel = 5ms},
                                               {.lease = 5s, .cancel = 15ms}});
    return turns;
}

const std::vector<turn>& simple_turns() {
    static const std::vector<turn> turns{
        {}, {.timeout = 0ms}, {.timeout = 20ms}, {.lease = 5s}, {.timeout = 50ms, .lease = 5s}};
    return turns;
}

const std::vector<turn>& fair_turns() {
    static const std::vector<turn> turns{{.timeout = in_queue},
                                         {.timeout = in_queue},
                                         {.timeout = 0ms},
                                         {.timeout = 20ms},
                                         {.timeout = in_queue, .lease = 5s},
                                         {.timeout = in_queue, .lease = 30ms, .hold = 60ms}};
    return turns;
}

const std::vector<turn>& writers_turns() {
    static const std::vector<turn> turns{{},
                                         {.depth = 2},
                                         {.timeout = 20ms},
                                         {.timeout = 50ms, .lease = 5s},
                                         {.downgrade = true},
                                         {.timeout = 50ms, .downgrade = true}};
    return turns;
}

/// Nobody waits for ever: what a killed one took is missing until it is made good.
const std::vector<turn>& visitors_turns() {
    static const std::vector<turn> turns{{.timeout = 500ms},
                                         {.timeout = 500ms, .depth = 2},
                                         {.timeout = 0ms},
                                         {.timeout = 20ms, .depth = 3}};
    return turns;
}

const std::vector<turn>& tenants_turns() {
    static const std::vector<turn> turns{{.timeout = 500ms, .lease = 5s},
                                         {.timeout = 0ms, .lease = 5s},
                                         {.timeout = 20ms, .lease = 5s},
                                         {.timeout = 500ms, .lease = 30ms, .hold = 60ms}};
    return turns;
}

/// So few wait for long that the others are enough to open it.
const std::vector<turn>& comers_turns() {
    static const std::vector<turn> turns{{.timeout = 5s, .depth = 5, .rest = latches_rest},
                                         {.timeout = 5s, .depth = 5, .rest = latches_rest},
                                         {.timeout = 50ms, .depth = 5, .rest = latches_rest}};
    return turns;
}

const std::vector<turn>& spenders_turns() {
    static const std::vector<turn> turns{{.timeout = 0ms},
                                         {.timeout = 20ms, .depth = 2},
                                         {.timeout = 500ms},
                                         {.timeout = 500ms, .depth = 3}};
    return turns;
}

struct kind {
    const char* object;
    std::string suffix;
    int major, minor; ///< of the first version that has it
    std::vector<turn> turns;
};

const std::vector<kind>& kinds() {
    static const std::vector<kind> all{
        {"getLock", "", 3, 13, plain_turns()},
        {"getNonReentrantLock", ":once", 4, 4, simple_turns()},
        {"getSpinLock", ":spin", 3, 15, simple_turns()},
        {"getFencedLock", ":fenced", 3, 19, simple_turns()},
        {"getFairLock", ":fair", 3, 13, fair_turns()},
        {"getNonReentrantFairLock", ":fair", 4, 4, fair_turns()},
        {"getReadWriteLock/readLock", ":shared", 3, 13, simple_turns()},
        {"getReadWriteLock/writeLock", ":shared", 3, 13, writers_turns()},
        {"getSemaphore", seats, 3, 13, visitors_turns()},
        {"getCountDownLatch", met_at, 3, 13, comers_turns()}};
    return all;
}

/// Which a guest has in its own form.
std::vector<kind> kinds_in_form(const std::optional<std::string>& form) {
    return {{"getPermitExpirableSemaphore", leased + in_form(form), 3, 13, tenants_turns()},
            {"getRateLimiter", rated + in_form(form), 3, 13, spenders_turns()}};
}

/// Waits that only ours can call off, and leases that only ours renew.
std::vector<turn> turns_of_ours(const std::vector<kind>& with_forms) {
    std::vector<turn> all = at("getSemaphore", seats, {{.depth = 2, .cancel = 10ms}});
    const auto add = [&](const std::string& object, const std::string& suffix, const turn& how) {
        all.push_back(at(object, suffix, {how}).front());
    };
    add("getCountDownLatch", met_at, {.depth = 5, .cancel = 20ms, .rest = latches_rest});
    add(with_forms[0].object, with_forms[0].suffix, {.timeout = 500ms});
    add(with_forms[1].object, with_forms[1].suffix, {.depth = 2, .cancel = 10ms});
    return all;
}

} // namespace

std::string in_form(const std::optional<std::string>& form) {
    return form ? ":" + *form : "";
}

std::vector<turn> stress_turns(const guest& who) {
    const std::string& redisson = who.kind.redisson;
    const std::vector<kind> with_forms = kinds_in_form(who.form);
    std::vector<kind> has = kinds();
    has.insert(has.end(), with_forms.begin(), with_forms.end());
    std::vector<turn> all = redisson.empty() ? turns_of_ours(with_forms) : std::vector<turn>{};
    for (const kind& each : has)
        if (redisson.empty() || is_at_least(redisson, each.major, each.minor))
            for (const turn& way : at(each.object, each.suffix, each.turns))
                all.push_back(way);
    return all;
}

std::vector<turn> turns_through_failover() {
    std::vector<turn> all;
    const auto add = [&](const std::string& object, const std::string& suffix,
                         const std::vector<turn>& ways) {
        for (const turn& way : at(object, suffix, ways))
            all.push_back(way);
    };
    constexpr duration long_hold{300};
    add("getLock", "", simple_turns());
    add("getLock", "", {{.hold = long_hold}});
    add("getFairLock", ":fair", {{.timeout = in_queue}, {.timeout = 0ms}});
    add("getReadWriteLock/readLock", ":shared", simple_turns());
    add("getReadWriteLock/writeLock", ":shared", {{}, {.timeout = 20ms}, {.hold = long_hold}});
    return all;
}

client_settings stress_settings(const guest& who) {
    // Polls: a JVM that gives up just when it is its turn tells nobody whose turn it is then. What
    // is behind: for how long the queue of a fair lock stands still for whoever was killed in it.
    return {.lease_time = 5s,
            .poll_bound = 500ms,
            .unavailable_timeout = 2s,
            .command_timeout = 2s,
            .waiter_timeout = 8s,
            .fair_wait = in_queue,
            .redisson_form = who.form,
            .direct_hand_off = who.direct_hand_off};
}

} // namespace holdfast::interop
