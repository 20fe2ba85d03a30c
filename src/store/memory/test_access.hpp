// SPDX-License-Identifier: Apache-2.0
// Functions of a memory::server that only the tests of holdfast use. They are not public, and users
// cannot include this header. Calls need no namespace, because the server is an argument:
//
//     EXPECT_EQ(held_count(server), 0u);
#pragma once

#include "store/memory/connection.hpp"
#include "store/memory/replicas.hpp"
#include "store/memory/server_state.hpp"

#include <holdfast/memory/server.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

namespace holdfast::memory {

/// Friend of `server` that gives access to its private members.
struct test_access {
    static const std::shared_ptr<server_group>& machines(const server& at) { return at.group_; }
};

/// Returns the machines of a server: the primary and its replicas.
inline const std::shared_ptr<server_group>& machines(const server& at) {
    return test_access::machines(at);
}
/// Returns the state of the primary.
inline std::shared_ptr<server_state> primary_state(const server& at) {
    return machines(at)->primary();
}
/// Returns the number of the machine that was promoted last.
inline std::size_t primary_number(const server& at) {
    return machines(at)->primary_number();
}
/// Announces to the clients that this machine is the primary. Tests use this function for
/// announcements that arrive too early or twice.
inline void announce(server& at, std::size_t machine) {
    machines(at)->announce(machine);
}

/// Sets how fast the primary's clock is. At 1.0, it is as fast as the clients' clock.
inline void set_clock_rate(server& at, double rate) {
    primary_state(at)->set_clock_rate(rate);
}
/// Sets the speed of the clock of one machine.
inline void set_clock_rate(server& at, std::size_t machine, double rate) {
    machines(at)->at(machine)->set_clock_rate(rate);
}

// The following functions work on the primary.

/// Returns the holder of a lock. The result is empty if nobody holds the lock.
inline std::optional<holding> inspect(const server& at, const lock_name& name) {
    return primary_state(at)->inspect(name);
}
/// Returns the number of locks that are held now.
inline std::size_t held_count(const server& at) {
    return primary_state(at)->held_count();
}
/// Returns the number of waiters that a release would notify.
inline std::size_t listener_count(const server& at) {
    return primary_state(at)->listener_count();
}

/// Simulates a Redisson client before 4.4 that renews its read hold: the lock and the holds of all
/// readers then expire after `lease`. Returns false if there are no readers.
inline bool cut_readers(server& at, const lock_name& name, duration lease) {
    return primary_state(at)->cut_readers(name, lease);
}
/// Requests a fair lock as a Redisson client. Returns true if the client gets the lock, for the
/// time `lease`. Returns false if the client waits in the queue. The client tries again only when
/// the test calls this function again.
inline bool queue_stranger(server& at, const lock_name& name, duration lease) {
    const std::shared_ptr<server_state> primary = primary_state(at);
    return primary->stranger_takes_or_queues(name, "foreign", primary->stranger_waits(), lease);
}

/// Adds permits to a semaphore, as another program would, and notifies the waiters. A negative
/// amount takes permits away. Creates the semaphore if it does not exist.
inline void add_to_counter(server& at, const lock_name& name, std::int64_t amount) {
    const counter_verb verb = amount < 0 ? counter_verb::take_back : counter_verb::add;
    primary_state(at)->stranger_changes(
        {name, {}, counter_kind::semaphore, verb, std::abs(amount)});
}
/// Counts a latch down, as another program would, and notifies the waiters.
inline void count_down(server& at, const lock_name& name, std::int64_t by = 1) {
    primary_state(at)->stranger_changes(
        {name, {}, counter_kind::latch, counter_verb::count_down, by});
}
/// Returns the value of a counter. The result is empty if the counter does not exist.
inline std::optional<std::int64_t> counter(const server& at, const lock_name& name) {
    const counter_state found =
        primary_state(at)->inspect_counter(name, counter_kind::semaphore, {});
    return found.exists ? std::optional{found.value} : std::nullopt;
}

} // namespace holdfast::memory
