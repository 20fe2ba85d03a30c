// SPDX-License-Identifier: Apache-2.0
// List of all functions of the counters, for tests that call each of them in the same situation,
// for example after the client was closed.
#pragma once

#include "support/eventually.hpp"
#include "support/recorder.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

#include <boost/asio/use_future.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::support {

/// One counter of each type. All counters belong to one client.
struct counters {
    explicit counters(client& home)
        : seats{home, "seats"}
        , leases{home, "leases"}
        , gate{home, "gate"}
        , mails{home, "mails"} {}

    counting_semaphore seats;
    leased_semaphore leases;
    latch gate;
    rate_limiter mails;
};

/// Functions with their names. Each makes one call and returns its error code.
using counter_verbs = std::vector<std::pair<const char*, std::function<error_code()>>>;

inline const std::string some_permit(32, 'a');
inline constexpr rate some_rate{
    .permits = 1, .per = duration{1000}, .scope = rate::scope_of::overall, .kept = {}};

inline counter_verbs blocking_counter_verbs(counters& my) {
    constexpr duration soon_enough{1000};
    const auto now = std::chrono::steady_clock::now() + soon_enough;
    const lease_time length{soon_enough};
    const auto verb = [](const char* name, auto call) {
        return std::pair{name, std::function<error_code()>{[call] { return code_of(call); }}};
    };
    return {
        verb("semaphore acquire", [&] { my.seats.acquire(); }),
        verb("semaphore try_acquire", [&] { (void)my.seats.try_acquire(); }),
        verb("semaphore try_acquire_for", [&] { (void)my.seats.try_acquire_for(soon_enough); }),
        verb("semaphore try_acquire_until", [&my, now] { (void)my.seats.try_acquire_until(now); }),
        verb("semaphore release", [&] { my.seats.release(); }),
        verb("semaphore release_if_exists", [&] { my.seats.release_if_exists(); }),
        verb("semaphore try_set_permits", [&] { my.seats.try_set_permits(1); }),
        verb("semaphore try_set_permits for a while",
             [&] { my.seats.try_set_permits(1, soon_enough); }),
        verb("semaphore add_permits", [&] { my.seats.add_permits(1); }),
        verb("semaphore drain_permits", [&] { my.seats.drain_permits(); }),
        verb("semaphore available_permits", [&] { (void)my.seats.available_permits(); }),
        verb("semaphore erase", [&] { my.seats.erase(); }),
        verb("permits acquire", [&] { (void)my.leases.acquire(); }),
        verb("permits acquire for a time", [&my, length] { (void)my.leases.acquire(length); }),
        verb("permits try_acquire", [&] { (void)my.leases.try_acquire(); }),
        verb("permits try_acquire_for", [&] { (void)my.leases.try_acquire_for(soon_enough); }),
        verb("permits try_acquire_until", [&my, now] { (void)my.leases.try_acquire_until(now); }),
        verb("permits release", [&] { my.leases.release(some_permit); }),
        verb("permits set_lease", [&my, length] { my.leases.set_lease(some_permit, length); }),
        verb("permits try_set_permits", [&] { my.leases.try_set_permits(1); }),
        verb("permits set_permits", [&] { my.leases.set_permits(1); }),
        verb("permits add_permits", [&] { my.leases.add_permits(1); }),
        verb("permits available_permits", [&] { (void)my.leases.available_permits(); }),
        verb("permits acquired_permits", [&] { (void)my.leases.acquired_permits(); }),
        verb("permits erase", [&] { my.leases.erase(); }),
        verb("latch try_set_count", [&] { my.gate.try_set_count(1); }),
        verb("latch count", [&] { (void)my.gate.count(); }),
        verb("latch count_down", [&] { my.gate.count_down(); }),
        verb("latch arrive_and_wait", [&] { my.gate.arrive_and_wait(); }),
        verb("latch try_wait", [&] { (void)my.gate.try_wait(); }),
        verb("latch wait", [&] { my.gate.wait(); }),
        verb("latch wait_for", [&] { (void)my.gate.wait_for(soon_enough); }),
        verb("latch wait_until", [&my, now] { (void)my.gate.wait_until(now); }),
        verb("latch erase", [&] { my.gate.erase(); }),
        verb("rate acquire", [&] { my.mails.acquire(); }),
        verb("rate try_acquire", [&] { (void)my.mails.try_acquire(); }),
        verb("rate try_acquire_for", [&] { (void)my.mails.try_acquire_for(soon_enough); }),
        verb("rate try_acquire_until", [&my, now] { (void)my.mails.try_acquire_until(now); }),
        verb("rate try_set_rate", [&] { my.mails.try_set_rate(some_rate); }),
        verb("rate set_rate", [&] { my.mails.set_rate(some_rate); }),
        verb("rate current_rate", [&] { (void)my.mails.current_rate(); }),
        verb("rate release", [&] { my.mails.release(); }),
        verb("rate available_permits", [&] { (void)my.mails.available_permits(); }),
        verb("rate erase", [&] { my.mails.erase(); }),
    };
}

inline counter_verbs asynchronous_counter_verbs(counters& my) {
    constexpr duration soon_enough{1000};
    const lease_time length{soon_enough};
    const auto verb = [](const char* name, auto start) {
        return std::pair{name, std::function<error_code()>{[start] {
                             return code_of([&] { (void)soon(start(asio::use_future)); });
                         }}};
    };
    return {
        verb("semaphore async_acquire", [&](auto t) { return my.seats.async_acquire(1, t); }),
        verb("semaphore async_try_acquire",
             [&](auto t) { return my.seats.async_try_acquire(1, t); }),
        verb("semaphore async_try_acquire_for",
             [&](auto t) { return my.seats.async_try_acquire_for(soon_enough, 1, t); }),
        verb("semaphore async_release", [&](auto t) { return my.seats.async_release(1, t); }),
        verb("semaphore async_release_if_exists",
             [&](auto t) { return my.seats.async_release_if_exists(1, t); }),
        verb("semaphore async_try_set_permits",
             [&](auto t) { return my.seats.async_try_set_permits(1, t); }),
        verb("semaphore async_add_permits",
             [&](auto t) { return my.seats.async_add_permits(1, t); }),
        verb("semaphore async_drain_permits",
             [&](auto t) { return my.seats.async_drain_permits(t); }),
        verb("semaphore async_available_permits",
             [&](auto t) { return my.seats.async_available_permits(t); }),
        verb("semaphore async_erase", [&](auto t) { return my.seats.async_erase(t); }),
        verb("permits async_acquire", [&](auto t) { return my.leases.async_acquire(1, t); }),
        verb("permits async_acquire for a time",
             [&my, length](auto t) { return my.leases.async_acquire(length, 1, t); }),
        verb("permits async_try_acquire",
             [&](auto t) { return my.leases.async_try_acquire(1, t); }),
        verb("permits async_try_acquire_for",
             [&](auto t) { return my.leases.async_try_acquire_for(soon_enough, 1, t); }),
        verb("permits async_release",
             [&](auto t) { return my.leases.async_release(some_permit, t); }),
        verb("permits async_set_lease",
             [&my, length](auto t) { return my.leases.async_set_lease(some_permit, length, t); }),
        verb("permits async_try_set_permits",
             [&](auto t) { return my.leases.async_try_set_permits(1, t); }),
        verb("permits async_set_permits",
             [&](auto t) { return my.leases.async_set_permits(1, t); }),
        verb("permits async_add_permits",
             [&](auto t) { return my.leases.async_add_permits(1, t); }),
        verb("permits async_available_permits",
             [&](auto t) { return my.leases.async_available_permits(t); }),
        verb("permits async_acquired_permits",
             [&](auto t) { return my.leases.async_acquired_permits(t); }),
        verb("latch async_wait", [&](auto t) { return my.gate.async_wait(t); }),
        verb("latch async_wait_for",
             [&](auto t) { return my.gate.async_wait_for(soon_enough, t); }),
        verb("latch async_count_down", [&](auto t) { return my.gate.async_count_down(1, t); }),
        verb("latch async_try_set_count",
             [&](auto t) { return my.gate.async_try_set_count(1, t); }),
        verb("latch async_count", [&](auto t) { return my.gate.async_count(t); }),
        verb("latch async_erase", [&](auto t) { return my.gate.async_erase(t); }),
        verb("rate async_acquire", [&](auto t) { return my.mails.async_acquire(1, t); }),
        verb("rate async_try_acquire", [&](auto t) { return my.mails.async_try_acquire(1, t); }),
        verb("rate async_try_acquire_for",
             [&](auto t) { return my.mails.async_try_acquire_for(soon_enough, 1, t); }),
        verb("rate async_try_set_rate",
             [&](auto t) { return my.mails.async_try_set_rate(some_rate, t); }),
        verb("rate async_set_rate", [&](auto t) { return my.mails.async_set_rate(some_rate, t); }),
        verb("rate async_current_rate", [&](auto t) { return my.mails.async_current_rate(t); }),
        verb("rate async_release", [&](auto t) { return my.mails.async_release(1, t); }),
        verb("rate async_available_permits",
             [&](auto t) { return my.mails.async_available_permits(t); }),
    };
}

} // namespace holdfast::support
