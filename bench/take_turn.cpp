// SPDX-License-Identifier: Apache-2.0
#include "bench/take_turn.hpp"

#include <stdexcept>
#include <string>
#include <thread>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// Time until the server's statistics are final. A message that no caller waits for may still be on
/// its way: Redisson's cleanup after a release, or a deferred release of holdfast.
constexpr auto books_close_within = 2s;

void compare_with_books(const tally& all, const claim& scripts, const ledger& books) {
    if (all.done == 0 || all.samples.empty())
        throw std::runtime_error{"did nothing in a whole turn"};
    const auto deadline = stopwatch::now() + books_close_within;
    for (;;) {
        const std::string trouble = books.trouble_with(scripts);
        if (trouble.empty())
            return;
        if (stopwatch::now() > deadline)
            throw std::runtime_error{"did " + std::to_string(all.done) + ", but " + trouble};
        std::this_thread::sleep_for(1ms);
    }
}

} // namespace

turn take_turn(contender& who, ledger& books, nanoseconds length,
               std::vector<nanoseconds>& samples) {
    books.clear();
    const double server_before = books.cpu_seconds();
    const double client_before = who.cpu_seconds();
    tally all = who.run(length);
    const double client_cpu = who.cpu_seconds() - client_before;
    const double server_cpu = books.cpu_seconds() - server_before;
    compare_with_books(all, who.scripts_for(all), books);
    samples.insert(samples.end(), all.samples.begin(), all.samples.end());
    const auto done = static_cast<double>(all.done);
    const double seconds = std::chrono::duration<double>{all.elapsed}.count();
    return {.per_second = done / seconds,
            .p50_us = percentile_us(all.samples, 0.50),
            .p99_us = percentile_us(all.samples, 0.99),
            .client_cpu_us = client_cpu * 1e6 / done,
            .server_cpu_us = server_cpu * 1e6 / done,
            .memory_kb = who.memory_kb(),
            .commands = static_cast<double>(books.commands_sent()) / done,
            .server_share = 100 * server_cpu / seconds / done};
}

} // namespace holdfast::bench
