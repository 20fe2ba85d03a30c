// SPDX-License-Identifier: Apache-2.0
#include "bench/failover/hold_failover.hpp"

#include "bench/failover/held_locks.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// Time after which a subscriber has polled once more and sleeps.
constexpr auto asleep_after = 500ms;

/// Result of one round, in seconds.
struct seen_in_a_round {
    double promoted = 0;
    double free = 0, waiter = 0;             ///< holdfast's side, from the promotion to the grant
    double their_free = 0, their_waiter = 0; ///< Redisson's side, from the promotion to the grant
};

double seconds(std::chrono::steady_clock::duration length) {
    return std::chrono::duration<double>{length}.count();
}

double seconds_after(moment promoted, moment granted) {
    return std::max(0.0, seconds(granted - promoted));
}

/// Returns the first `count` locks in slots of the primary.
std::vector<int> locks_at_primary(const realm& servers, std::size_t count) {
    std::vector<int> found;
    for (int lock = 0; found.size() < count; ++lock)
        if (servers.is_kept_by_primary(name_of_lock(lock)))
            found.push_back(lock);
    return found;
}

seen_in_a_round fail_once(const failover& which, realm& servers, applicants& ours,
                          applicants* redissons) {
    servers.restore();
    const std::vector<int> locks = locks_at_primary(servers, 4);
    held_locks held{servers, redissons ? std::vector{locks[1], locks[3]} : std::vector{locks[1]}};
    ours.prepare(servers, {name_of_lock(locks[0]), name_of_lock(locks[1])});
    if (redissons)
        redissons->prepare(servers, {name_of_lock(locks[2]), name_of_lock(locks[3])});
    held.wait_until_wanted();
    std::this_thread::sleep_for(asleep_after);

    const moment failed = std::chrono::steady_clock::now();
    servers.fail(which.how);
    ours.ask();
    if (redissons)
        redissons->ask();
    const moment promoted = held.wait_until_promoted();
    held.release();

    seen_in_a_round seen;
    seen.promoted = seconds(promoted - failed);
    const grants of_ours = ours.finish();
    seen.free = seconds_after(promoted, of_ours.free);
    seen.waiter = seconds_after(promoted, of_ours.held);
    if (redissons) {
        const grants of_theirs = redissons->finish();
        seen.their_free = seconds_after(promoted, of_theirs.free);
        seen.their_waiter = seconds_after(promoted, of_theirs.held);
    }
    return seen;
}

std::vector<double> all_of(const std::vector<seen_in_a_round>& rounds,
                           double seen_in_a_round::*what) {
    std::vector<double> values;
    for (const seen_in_a_round& each : rounds)
        values.push_back(each.*what);
    return values;
}

} // namespace

std::vector<figure> hold_failover(const failover& which, realm& servers, applicants* redissons,
                                  int rounds, const std::function<void(int round)>& progress) {
    const auto ours = our_applicants();
    std::vector<seen_in_a_round> seen;
    for (int i = 1; i <= rounds; ++i) {
        progress(i);
        seen.push_back(fail_once(which, servers, *ours, redissons));
    }
    servers.restore();
    const auto theirs = [&](double seen_in_a_round::*what) {
        return redissons ? all_of(seen, what) : std::vector<double>{};
    };
    return figures(
        which.name, which.wanted,
        std::vector<comparison>{
            {".promoted", "s", better::lower, all_of(seen, &seen_in_a_round::promoted)},
            {".free", "s after that", better::lower, all_of(seen, &seen_in_a_round::free),
             theirs(&seen_in_a_round::their_free)},
            {".waiter", "s after that", better::lower, all_of(seen, &seen_in_a_round::waiter),
             theirs(&seen_in_a_round::their_waiter)}});
}

} // namespace holdfast::bench
