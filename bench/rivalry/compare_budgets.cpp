// SPDX-License-Identifier: Apache-2.0
#include "bench/rivalry/compare_budgets.hpp"

#include "bench/contenders/redisson.hpp"
#include "bench/rivalry/crowd_and_rival.hpp"
#include "bench/take_turn.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::bench {
namespace {

/// One value of `options::hand_off::within`, and its results in all rounds.
struct budget {
    std::string within;
    std::vector<turn> turns{};
    std::vector<nanoseconds> waits{}; ///< waits of the other process

    /// Runs one turn with a new client. A new client does not know yet that another process waits.
    /// The time to find that out is part of the measurement.
    void take_turn(arena where, peer& rival, accounts& books, const course& how, bool counts) {
        where.query = "?hand_off_within=" + within;
        const made both = crowd_and_rival(where, rival);
        std::vector<nanoseconds> waited;
        const turn seen = bench::take_turn(*both, books, how.turn_length, waited);
        if (!counts)
            return;
        turns.push_back(seen);
        waits.insert(waits.end(), waited.begin(), waited.end());
    }
};

std::vector<figure> figures_of(const std::string& trial, budget& seen, const budget& none) {
    const std::string name = trial + "." + seen.within;
    std::vector<round> rounds;
    for (std::size_t i = 0; i < seen.turns.size(); ++i)
        rounds.push_back({.ours = seen.turns[i], .yardstick = none.turns[i]});
    std::vector<figure> all = figures(name, hand_offs_beside, {}, rounds);
    const auto wait = [&](const char* suffix, double part) {
        const sighting it{suffix, "us waited", better::lower, percentile_us(seen.waits, part)};
        const std::vector<figure> one = figures(name, {}, {it});
        all.insert(all.end(), one.begin(), one.end());
    };
    wait(".rival.p50", 0.5);
    wait(".rival.p99", 0.99);
    wait(".rival.max", 1);
    return all;
}

} // namespace

std::vector<figure> compare_budgets(const rivalry& which, arena where, accounts& books,
                                    const course& how) {
    std::optional<peer> neighbour;
    if (which.other == rival::holdfast)
        neighbour.emplace(std::vector<std::string>{"/proc/self/exe", "--neighbour", where.url()},
                          where.home.folder() / "neighbour.log");
    peer& rival = neighbour ? *neighbour : where.java.process();
    std::vector<budget> budgets;
    for (const char* within : {"0ms", "1ms", "5ms", "10ms", "20ms", "50ms", "100ms"})
        budgets.push_back({within});
    for (int i = 0; i <= how.rounds; ++i) {
        how.progress(i);
        for (budget& each : budgets)
            each.take_turn(where, rival, books, how, i > 0);
    }
    std::vector<figure> all;
    for (budget& each : budgets)
        std::ranges::copy(figures_of(which.name, each, budgets.front()), std::back_inserter(all));
    return all;
}

} // namespace holdfast::bench
