// SPDX-License-Identifier: Apache-2.0
#include "bench/duel.hpp"

#include "bench/cpu.hpp"

#include <algorithm>
#include <stdexcept>

namespace holdfast::bench {
namespace {

double percentile_us(std::vector<nanoseconds>& all, double part) {
    const auto last = static_cast<double>(all.size() - 1);
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(part * last);
    std::nth_element(all.begin(), at, all.end());
    return std::chrono::duration<double, std::micro>{*at}.count();
}

void compare_with_books(const tally& claimed, const accounts& books) {
    if (claimed.pairs.empty())
        throw std::runtime_error{"not one pair was completed"};
    const auto expected = 2 * static_cast<long long>(claimed.pairs.size());
    const auto counted = books.scripts_run();
    if (counted != expected)
        throw std::runtime_error{"the server ran " + std::to_string(counted) + " scripts for " +
                                 std::to_string(claimed.pairs.size()) + " pairs"};
    if (const auto left = books.keys())
        throw std::runtime_error{std::to_string(left) + " keys are left on the server"};
}

turn take_turn(contender& who, accounts& books, nanoseconds length) {
    books.clear();
    const double server_before = books.cpu_seconds();
    const double client_before = own_cpu_seconds();
    tally all = who.run(length);
    const double client_cpu = own_cpu_seconds() - client_before;
    const double server_cpu = books.cpu_seconds() - server_before;
    compare_with_books(all, books);
    const auto pairs = static_cast<double>(all.pairs.size());
    return {.pairs_per_second = pairs / std::chrono::duration<double>{all.elapsed}.count(),
            .p50_us = percentile_us(all.pairs, 0.50),
            .p99_us = percentile_us(all.pairs, 0.99),
            .client_cpu_us = client_cpu * 1e6 / pairs,
            .server_cpu_us = server_cpu * 1e6 / pairs};
}

} // namespace

std::vector<round> duel(contender& ours, contender& yardstick, accounts& books, const course& how) {
    std::vector<round> rounds;
    for (int i = 0; i <= how.rounds; ++i) {
        how.progress(i);
        round now{};
        const bool we_first = i % 2 == 1;
        if (we_first)
            now.ours = take_turn(ours, books, how.turn_length);
        now.yardstick = take_turn(yardstick, books, how.turn_length);
        if (!we_first)
            now.ours = take_turn(ours, books, how.turn_length);
        const bool warm_up = i == 0; // connecting, loading scripts, filling caches
        if (!warm_up)
            rounds.push_back(now);
    }
    return rounds;
}

} // namespace holdfast::bench
