// SPDX-License-Identifier: Apache-2.0
#include "bench/figures/figures.hpp"

#include <algorithm>
#include <stdexcept>

namespace holdfast::bench {

const discipline pairs = {
    {"", "pairs/s", better::higher, &turn::per_second},
    {".p50", "us", better::lower, &turn::p50_us},
    {".p99", "us", better::lower, &turn::p99_us},
    {".client_cpu", "us/pair", better::lower, &turn::client_cpu_us},
    {".server_cpu", "us/pair", better::lower, &turn::server_cpu_us},
};

const discipline hand_offs = {
    {"", "hand-offs/s", better::higher, &turn::per_second},
    {".p50", "us waited", better::lower, &turn::p50_us},
    {".p99", "us waited", better::lower, &turn::p99_us},
    {".client_cpu", "us/hand-off", better::lower, &turn::client_cpu_us},
    {".server_cpu", "us/hand-off", better::lower, &turn::server_cpu_us},
};

/// Figures of hand-overs, if the yardstick uses no server.
const discipline hand_offs_alone{hand_offs.begin(), hand_offs.end() - 1};

/// Figures of hand-overs in a contest with another process. The waits of that process are measured
/// separately.
const discipline hand_offs_beside = {hand_offs.front()};

const discipline re_entries = {
    {"", "re-entries/s", better::higher, &turn::per_second},
    {".p50", "us", better::lower, &turn::p50_us},
    {".client_cpu", "us/re-entry", better::lower, &turn::client_cpu_us},
};

const discipline server_time = {
    {"", "us/pair", better::lower, &turn::server_cpu_us},
};

const discipline commands = {
    {"", "commands/s", better::higher, &turn::per_second},
    {".p50", "us", better::lower, &turn::p50_us},
    {".p99", "us", better::lower, &turn::p99_us},
    {".memory", "KB while held", better::lower, &turn::memory_kb},
};

const discipline acquisitions = {
    {"", "acquisitions/s", better::higher, &turn::per_second},
    {".p50", "us waited", better::lower, &turn::p50_us},
    {".p99", "us waited", better::lower, &turn::p99_us},
    {".commands", "commands each", better::lower, &turn::commands},
    {".client_cpu", "us each", better::lower, &turn::client_cpu_us},
    {".server_cpu", "us each", better::lower, &turn::server_cpu_us},
};

/// Figures of readers with one writer. The writer's waits have their own figures, because they
/// would not be visible among the many waits of readers.
const discipline pairs_beside_a_writer = {
    {"", "pairs/s", better::higher, &turn::per_second},
    {".writer.p50", "us waited", better::lower, &turn::p50_us},
    {".writer.p99", "us waited", better::lower, &turn::p99_us},
    {".client_cpu", "us/pair", better::lower, &turn::client_cpu_us},
    {".server_cpu", "us/pair", better::lower, &turn::server_cpu_us},
};

const discipline wake_ups = {
    {".p50", "us", better::lower, &turn::p50_us},
    {".p99", "us", better::lower, &turn::p99_us},
};

/// Figures of a call. They contain no rate of pairs, because the yardstick does only a part of a
/// call.
const discipline calls = wake_ups;

/// Figures of the extra time for a grant that replicas confirm.
const discipline confirmations = {
    {".p50", "us more", better::lower, &turn::p50_us},
};

/// Figures of the extra time for a call. They are divided by two, because a pair has two calls.
const discipline added_to_calls = {
    {"", "us/call more", better::lower, &turn::client_cpu_us, 2},
    {".client_cpu", "us/pair", better::lower, &turn::client_cpu_us},
};

/// Figures of waiters that do nothing but wait.
const discipline waits = {
    {".server_cpu", "% of a core", better::lower, &turn::server_share},
};

namespace {

bool is_met(better best, double limit, double value) {
    return best == better::higher ? value >= limit : value <= limit;
}

goal goal_of(const goals& wanted, const char* suffix) {
    const auto found = wanted.find(suffix);
    return found == wanted.end() ? goal{} : found->second;
}

/// Returns whether ratios can be computed. They cannot if the yardstick took no time.
bool can_be_compared(const comparison& seen) {
    return !seen.yardstick.empty() && std::none_of(seen.yardstick.begin(), seen.yardstick.end(),
                                                   [](double each) { return each == 0; });
}

/// Throws if a goal belongs to no figure. Otherwise such a goal could never fail.
template <typename All>
void expect_figures_for(const goals& wanted, const All& all, const std::string& contest) {
    for (const auto& [suffix, limit] : wanted)
        if (std::none_of(all.begin(), all.end(), [&](auto& each) { return each.suffix == suffix; }))
            throw std::logic_error{contest + " has a goal for a figure that it has not"};
}

figure one(const std::string& contest, const comparison& seen, const goals& wanted) {
    figure made{.name = contest + seen.suffix,
                .unit = seen.unit,
                .best = seen.best,
                .ours = spread_of(seen.ours),
                .wanted = goal_of(wanted, seen.suffix)};
    if (!seen.yardstick.empty())
        made.yardstick = spread_of(seen.yardstick);
    if (!can_be_compared(seen))
        return made;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < seen.ours.size(); ++i)
        ratios.push_back(seen.ours[i] / seen.yardstick.at(i));
    made.ratio = spread_of(ratios);
    return made;
}

comparison seen_in(const std::vector<round>& rounds, const aspect& what) {
    comparison all{what.suffix, what.unit, what.best, {}};
    for (const round& each : rounds) {
        const double ours = each.ours.*what.value, yardstick = each.yardstick.*what.value;
        if (what.more_by_parts > 0) {
            all.ours.push_back((ours - yardstick) / what.more_by_parts);
        } else {
            all.ours.push_back(ours);
            all.yardstick.push_back(yardstick);
        }
    }
    return all;
}

} // namespace

std::optional<bool> figure::holds() const {
    if (!wanted.ratio && !wanted.value)
        return std::nullopt;
    return (!wanted.ratio || (ratio && is_met(best, *wanted.ratio, ratio->median))) &&
           (!wanted.value || is_met(best, *wanted.value, ours.median));
}

std::vector<figure> figures(const std::string& contest, const discipline& what, const goals& wanted,
                            const std::vector<round>& rounds) {
    expect_figures_for(wanted, what, contest);
    std::vector<figure> all;
    for (const aspect& each : what)
        all.push_back(one(contest, seen_in(rounds, each), wanted));
    return all;
}

std::vector<figure> figures(const std::string& contest, const goals& wanted,
                            const std::vector<sighting>& seen) {
    expect_figures_for(wanted, seen, contest);
    std::vector<figure> all;
    for (const sighting& each : seen)
        all.push_back(one(contest, {each.suffix, each.unit, each.best, {each.value}}, wanted));
    return all;
}

std::vector<figure> figures(const std::string& contest, const goals& wanted,
                            const std::vector<comparison>& seen) {
    expect_figures_for(wanted, seen, contest);
    std::vector<figure> all;
    for (const comparison& each : seen)
        all.push_back(one(contest, each, wanted));
    return all;
}

} // namespace holdfast::bench
