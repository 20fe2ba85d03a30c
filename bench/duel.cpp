// SPDX-License-Identifier: Apache-2.0
#include "bench/duel.hpp"

#include "bench/take_turn.hpp"

#include <stdexcept>

namespace holdfast::bench {
namespace {

/// One side of the contest, with all its samples so far.
struct side {
    const char* name;
    contender& who;
    std::vector<nanoseconds> samples{};

    turn take_turn(ledger& books, nanoseconds length) try {
        return bench::take_turn(who, books, length, samples);
    } catch (const std::exception& trouble) {
        throw std::runtime_error{std::string{name} + ": " + trouble.what()};
    }
};

} // namespace

outcome duel(contender& we, contender& they, ledger& books, const course& how) {
    std::vector<round> rounds;
    side ours{"ours", we}, yardstick{"yardstick", they};
    for (int i = 0; i <= how.rounds; ++i) {
        how.progress(i);
        round now{};
        const bool we_first = i % 2 == 1;
        if (we_first)
            now.ours = ours.take_turn(books, how.turn_length);
        now.yardstick = yardstick.take_turn(books, how.turn_length);
        if (!we_first)
            now.ours = ours.take_turn(books, how.turn_length);
        if (i > 0) {
            rounds.push_back(now);
            continue;
        }
        // Drop the samples of the warm-up, in which connections are made, scripts loaded and caches
        // filled.
        ours.samples.clear();
        yardstick.samples.clear();
    }
    return {.rounds = std::move(rounds),
            .ours = distribution_of(std::move(ours.samples)),
            .yardstick = distribution_of(std::move(yardstick.samples))};
}

} // namespace holdfast::bench
