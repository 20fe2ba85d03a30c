// SPDX-License-Identifier: Apache-2.0
// A lock server inside the process, for a user's own tests. It is also the model with which the
// simulation and the conformance suite compare the other stores.
#pragma once

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::memory {

/// What happens to one request between a client and the server. Default: nothing bad.
struct fate {
    duration request_delay{};  ///< on its way there; beyond the time limit: it is executed late
    duration answer_delay{};   ///< on its way back
    bool request_lost = false; ///< never executed, never answered
    bool answer_lost = false;  ///< executed, never answered
    bool refused = false;      ///< `errc::unreachable` at once: never sent
    std::optional<duration> cut_off{};        ///< the connection breaks this long after the request
                                              ///< was sent: no answer, but it may be executed
    std::optional<duration> executed_again{}; ///< once more, this long after the first time
    bool wake_up_lost = false;                ///< the next wake-up of this client is not delivered
    bool overloaded = false; ///< `errc::overloaded` at once: no room for it, never sent
    bool denied = false;     ///< the server answers `errc::refused`, and does nothing
    std::vector<std::size_t> denied_holds{}; ///< the same for these of a renewal, by their places
};

/// `count` looks at a counter, `release` gives back what such a look may have taken.
enum class verb { look, renew, release, inspect, force, count, change };

/// One request, as it is sent. Valid during the call only.
struct request {
    verb what;
    std::string_view name{};                 ///< of the lock; if there are several, of the first
    std::span<const hold> holds{};           ///< those it is about, if it is about holds
    duration lease_time{};                   ///< asked for by `look` and `renew`
    bool elsewhere = false;                  ///< over another connection, since one gave no answer
    const counter_ask* counted = nullptr;    ///< of `count`, and of `release` after it
    const counter_change* changed = nullptr; ///< of `change`
};

using fault_function = std::function<fate(const request&)>;

/// The server that keeps the locks. Several clients of one server compete for them.
///
///     memory::server server;
///     client alice{options{.store = server.connect()}};
///     client bob{options{.store = server.connect()}};
///
/// Thread safety: every member may be called from any thread.
class HOLDFAST_EXPORT server {
public:
    server();                ///< on the real clock
    explicit server(clock&); ///< on the simulation's clock, which must outlive the server
    server(const server&) = delete;
    ~server();

    /// The `options::store` of a client of this server. `faults`, if given, is called for each
    /// request of that client, on that client's executor.
    store_factory connect(fault_function faults = {},
                          duration command_timeout = std::chrono::seconds{3});

    // The server's own clock decides when leases end, and which requests are too late.
    void step_clock(duration);        ///< forward or back, at once
    void set_clock_rate(double rate); ///< 1.0: as fast as the clients' clock

    /// Forgets every lock and counter, and each request about one; wakes nobody. Its answers say
    /// when.
    void restart_empty();
    bool evict(const lock_name&); ///< forgets one, wakes nobody
    /// A foreign owner takes it, held or not; to read, beside others who read. Of kind `token` it
    /// is a program that is no client of holdfast.
    void occupy(const lock_name&, duration lease, lock_kind = lock_kind::plain);
    bool vacate(const lock_name&); ///< the foreign owner releases: wakes waiters, if not `token`

    /// A JVM asks for a fair lock: true, it has it, for `lease`; false, it stands in the queue, and
    /// looks again only when the test calls this again.
    bool queue_stranger(const lock_name&, duration lease);

    // A stranger changes a counter, and wakes waiters: of a semaphore, which is made if there is
    // none, or of a latch.
    void add_to_counter(const lock_name&, std::int64_t amount); ///< below zero: so many fewer
    void count_down(const lock_name&, std::int64_t by = 1);
    std::optional<std::int64_t> counter(const lock_name&) const; ///< nothing: there is none

    std::optional<holding> inspect(const lock_name&) const;
    std::size_t held_count() const;     ///< locks now held
    std::size_t listener_count() const; ///< places that would be woken

    /// The server of that name in this process (the URL `memory:NAME`). It is made when it is first
    /// asked for, and lives as long as somebody uses it.
    static std::shared_ptr<server> named(std::string_view name);

    class state; ///< private to src/store/memory
    const std::shared_ptr<state>& inside() const noexcept { return state_; } ///< for its own tests

private:
    explicit server(std::shared_ptr<state>);

    std::shared_ptr<state> state_;
};

} // namespace holdfast::memory
