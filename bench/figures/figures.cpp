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

/// Beside who asks no server.
const discipline hand_offs_alone{hand_offs.begin(), hand_offs.end() - 1};

/// Where another process takes part, whose waits are looked at by themselves.
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

/// Its waits are looked at by themselves: among so many of the readers they would not be seen.
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

/// Of a call, where the yardstick does a part of it and no pairs can be compared.
const discipline calls = wake_ups;

namespace {

bool is_met(better best, double limit, double value) {
    return best == better::higher ? value >= limit : value <= limit;
}

goal goal_of(const goals& wanted, const char* suffix) {
    const auto found = wanted.find(suffix);
    return found == wanted.end() ? goal{} : found->second;
}

/// A goal that no figure has would never be missed.
template <typename All>
void expect_figures_for(const goals& wanted, const All& all, const std::string& contest) {
    for (const auto& [suffix, limit] : wanted)
        if (std::none_of(all.begin(), all.end(), [&](auto& each) { return each.suffix == suffix; }))
            throw std::logic_error{contest + " has a goal for a figure that it has not"};
}

figure one(const std::string& contest, const aspect& what, const goals& wanted,
           const std::vector<round>& rounds) {
    std::vector<double> ours, yardstick, ratios;
    for (const round& each : rounds) {
        ours.push_back(each.ours.*what.value);
        yardstick.push_back(each.yardstick.*what.value);
        ratios.push_back(ours.back() / yardstick.back());
    }
    return {.name = contest + what.suffix,
            .unit = what.unit,
            .best = what.best,
            .ours = spread_of(ours),
            .yardstick = spread_of(yardstick),
            .ratio = spread_of(ratios),
            .wanted = goal_of(wanted, what.suffix)};
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
        all.push_back(one(contest, each, wanted, rounds));
    return all;
}

std::vector<figure> figures(const std::string& contest, const goals& wanted,
                            const std::vector<sighting>& seen) {
    expect_figures_for(wanted, seen, contest);
    std::vector<figure> all;
    for (const sighting& each : seen)
        all.push_back({.name = contest + each.suffix,
                       .unit = each.unit,
                       .best = each.best,
                       .ours = spread_of({each.value}),
                       .wanted = goal_of(wanted, each.suffix)});
    return all;
}

} // namespace holdfast::bench
