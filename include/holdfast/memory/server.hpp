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
    std::uint8_t replicas = 0;               ///< so many must confirm what it writes
    std::size_t to = 0;                      ///< the machine that it is sent to
};

using fault_function = std::function<fate(const request&)>;

/// Another machine was announced as the primary: so long after that, a client learns of it.
/// Nothing: it does not, unless the one that it asks is a replica by then.
using notice_function = std::function<std::optional<duration>()>;

/// How a client reaches the server. Both functions are called on that client's executor.
struct way {
    fault_function faults{}; ///< is asked about each request; empty: nothing bad happens
    duration command_timeout = std::chrono::seconds{3};
    notice_function notices{}; ///< is asked at each announcement; empty: it learns at once
};

/// The server that keeps the locks. Several clients of one server compete for them.
///
///     memory::server server;
///     client alice{options{.store = server.connect()}};
///     client bob{options{.store = server.connect()}};
///
/// It may have *replicas*, one of which can take its place:
///
///     server.replicate(1, 5ms);    // machine 1 has all 5 ms later, and confirms it as long after
///     server.stop(0);              // the primary stands still
///     server.promote(1);           // its replica takes over, with what has reached it
///     server.resume(0);            // the old one goes on, and does not know of the other yet
///     server.demote(0);            // now it does, and is a replica
///
/// Or it may keep holds by *session*, as ZooKeeper does:
///
///     server.keep_by_session(10s);    // before anybody connects
///
/// What a client holds then lasts until nothing of the client has come for so long. Each request
/// prolongs all of it, and the lease that was asked for ends nothing here: the client ends it.
///
/// A client whose requests want replicas (`options::required_replicas`) is told by how many its
/// last write was confirmed, as Redis' WAIT does: for a second at most, or a third of the command
/// timeout, or of the lease, if that is shorter. A server that never had a replica confirms
/// anything at once.
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
    store_factory connect(way);

    /// Throws `std::logic_error` where there are replicas: no such server has any.
    void keep_by_session(duration session_time);

    // The server's own clock decides when leases end, and which requests are too late. Of several
    // machines each has its own; what replicas are sent has dates of the primary's.
    void step_clock(duration);        ///< forward or back, at once; of the primary
    void set_clock_rate(double rate); ///< 1.0: as fast as the clients' clock; of the primary
    void step_clock(std::size_t machine, duration);
    void set_clock_rate(std::size_t machine, double rate);

    // Machines have numbers, the first has 0. All of these throw `std::out_of_range` for one that
    // is not there.

    /// So many more replicas of the primary. Whatever is written reaches each of them after `lag`,
    /// and the primary knows it as long after that. Throws `std::logic_error` where holds are kept
    /// by session.
    void replicate(std::size_t count, duration lag = {});
    void set_lag(std::size_t replica, duration); ///< of what is written from now on
    /// Nothing reaches it any more, not even what is on its way, and it confirms nothing more.
    void cut_replica(std::size_t replica);
    /// It stands still: what comes waits. Of a replica, what is written too.
    void stop(std::size_t machine);
    void resume(std::size_t machine);
    /// From now on it is the primary, and is announced. It has what reached it until now, and no
    /// replicas. The one before does not know of it: it goes on as it is, with its other replicas.
    void promote(std::size_t machine);
    /// From now on it is a replica of the primary, which sends it all that there is; until that has
    /// arrived it has what it had. It answers clients that it takes no writes. Throws
    /// `std::logic_error` for the primary: promote another one first.
    void demote(std::size_t machine);
    /// Clients are told that this is the primary; for news that come early, or again.
    void announce(std::size_t machine);
    /// A replica that is restarted has nothing, until it has been sent all again; a primary has
    /// nothing, and so have its replicas then. Wakes nobody.
    void restart_empty(std::size_t machine);
    std::size_t primary() const; ///< the number of the one that was promoted last

    // What follows happens to the primary.

    /// Forgets every lock and counter, and each request about one; wakes nobody. Its answers say
    /// when.
    void restart_empty();
    bool evict(const lock_name&); ///< forgets one, wakes nobody
    /// A foreign owner takes it, held or not; to read, beside others who read. Of kind `token` it
    /// is a program that is no client of holdfast.
    void occupy(const lock_name&, duration lease, lock_kind = lock_kind::plain);
    bool vacate(const lock_name&); ///< the foreign owner releases: wakes waiters, if not `token`
    /// A foreign owner that reads renews its hold as Redisson before 4.4 does: the lock, and the
    /// holds of all who read, last for `lease` from now on. False: nobody reads.
    bool cut_readers(const lock_name&, duration lease);

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

    class state; ///< private to src/store/memory; so is the next
    class group;
    // For its own tests.
    std::shared_ptr<state> inside() const; ///< of the primary
    const std::shared_ptr<group>& machines() const noexcept { return group_; }

private:
    explicit server(std::shared_ptr<group>);

    std::shared_ptr<group> group_;
};

} // namespace holdfast::memory
