// SPDX-License-Identifier: Apache-2.0
#include "bench/duel.hpp"

#include <stdexcept>
#include <thread>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// A last message that nobody waited for may still be on its way: Redisson's clean-up after a
/// release, a release of ours that is not waited for.
constexpr auto books_close_within = 2s;

std::string trouble_with(const accounts& books, const claim& scripts) {
    const long long counted = books.scripts_run();
    if (counted < scripts.least || counted > scripts.most)
        return "the server ran " + std::to_string(counted) + " scripts, and not " +
               std::to_string(scripts.least) + " to " + std::to_string(scripts.most);
    if (const auto left = books.keys())
        return std::to_string(left) + " keys are left on the server";
    return {};
}

void compare_with_books(const tally& all, const claim& scripts, const accounts& books) {
    if (all.done == 0 || all.samples.empty())
        throw std::runtime_error{"did nothing in a whole turn"};
    const auto deadline = stopwatch::now() + books_close_within;
    for (;;) {
        const std::string trouble = trouble_with(books, scripts);
        if (trouble.empty())
            return;
        if (stopwatch::now() > deadline)
            throw std::runtime_error{"did " + std::to_string(all.done) + ", but " + trouble};
        std::this_thread::sleep_for(1ms);
    }
}

/// One side of the contest, and all its samples so far.
struct side {
    const char* name;
    contender& who;
    std::vector<nanoseconds> samples{};

    turn take_turn(accounts& books, nanoseconds length) try {
        books.clear();
        const double server_before = books.cpu_seconds();
        const double client_before = who.cpu_seconds();
        tally all = who.run(length);
        const double client_cpu = who.cpu_seconds() - client_before;
        const double server_cpu = books.cpu_seconds() - server_before;
        compare_with_books(all, who.scripts_for(all), books);
        samples.insert(samples.end(), all.samples.begin(), all.samples.end());
        const auto done = static_cast<double>(all.done);
        return {.per_second = done / std::chrono::duration<double>{all.elapsed}.count(),
                .p50_us = percentile_us(all.samples, 0.50),
                .p99_us = percentile_us(all.samples, 0.99),
                .client_cpu_us = client_cpu * 1e6 / done,
                .server_cpu_us = server_cpu * 1e6 / done};
    } catch (const std::exception& trouble) {
        throw std::runtime_error{std::string{name} + ": " + trouble.what()};
    }
};

} // namespace

outcome duel(contender& we, contender& they, accounts& books, const course& how) {
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
        ours.samples.clear(); // the warm-up: connecting, loading scripts, filling caches
        yardstick.samples.clear();
    }
    return {.rounds = std::move(rounds),
            .ours = distribution_of(std::move(ours.samples)),
            .yardstick = distribution_of(std::move(yardstick.samples))};
}

} // namespace holdfast::bench
