// SPDX-License-Identifier: Apache-2.0
// Lock server inside the process, for tests of applications. It belongs to the component
// holdfast::testing. The simulation of holdfast also uses this server, and the conformance tests
// compare the other stores with it.
#pragma once

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

class server_group; // private to src/store/memory

/// Faults of one request between a client and the server. By default, a request has no faults.
struct fate {
    /// Time that the request needs to reach the server. If this time is longer than the request's
    /// timeout, the client gives up first, and the server executes the request after that.
    duration request_delay{};
    duration answer_delay{};   ///< delay of the reply
    bool request_lost = false; ///< the request is lost: never executed, and no reply is sent
    bool answer_lost = false;  ///< the request is executed, but its reply is lost
    bool refused = false; ///< the request fails at once with `errc::unreachable` and is never sent
    /// If set, the connection breaks when this time has passed since the request was sent. The
    /// client gets no reply, but the server may still execute the request.
    std::optional<duration> cut_off{};
    /// If set, the server executes the request twice, with this time between the executions.
    std::optional<duration> executed_again{};
    bool wake_up_lost = false; ///< the next notification of this client is lost
    /// If true, the request is not sent and fails at once with `errc::overloaded`, as if the
    /// client's request queue were full.
    bool overloaded = false;
    bool denied = false; ///< the server replies `errc::refused` and does nothing
    /// For a renewal: indexes of the holds for which the server replies `errc::refused`.
    std::vector<std::size_t> denied_holds{};
};

/// Types of requests. `look` is an attempt to acquire a lock. `count` is an attempt to take permits
/// from a counter; if the attempt may have taken permits, `release` gives them back.
enum class verb { look, renew, release, inspect, force, count, change };

/// Description of one request. The description is valid only while the function that receives it
/// runs.
struct request {
    verb what;
    std::string_view name{}; ///< name of the lock, or of the first lock if the request has several
    std::span<const hold> holds{}; ///< holds that the request carries, if any
    duration lease_time{};         ///< requested lease time of `look` and `renew`
    std::size_t to = 0;            ///< number of the machine that receives the request
};

using fault_function = std::function<fate(const request&)>;

/// Function that returns how long after an announcement a client learns of the new primary. If the
/// function returns nothing, the client misses the announcement. The client then learns of the new
/// primary only if it sends a request to a machine that is a replica by then.
using notice_function = std::function<std::optional<duration>()>;

/// Settings of one client's connection to the server. The two functions are called on the executor
/// of that client.
struct way {
    fault_function faults{}; ///< called for each request; empty: no faults
    duration command_timeout = std::chrono::seconds{3};
    /// Function that is called for each announcement of a new primary. If the function is empty,
    /// the client learns of each announcement at once.
    notice_function notices{};
};

/// Server that keeps the locks. All clients of one server compete for them.
///
///     memory::server server;
///     client alice{options{.store = server.connect()}};
///     client bob{options{.store = server.connect()}};
///
/// The server may have *replicas*. A replica can take over from the primary:
///
///     server.replicate(1, 5ms);    // writes reach machine 1 after 5 ms; confirmations take 5 ms
///     server.stop(0);              // the primary stops
///     server.promote(1);           // its replica takes over, with the writes that have arrived
///     server.resume(0);            // the old primary continues; it does not know the new one yet
///     server.demote(0);            // now it knows the new primary, and is a replica
///
/// To simulate ZooKeeper, the server can keep holds by *session*:
///
///     server.keep_by_session(10s);    // before the first client connects
///
/// The holds of a client then last until the server has received nothing from the client for the
/// session time. Each request extends all holds of the client. The server ignores the requested
/// lease time; the client itself ends its leases.
///
/// If requests require replicas (`options::required_replicas`), the reply says how many replicas
/// confirmed the client's last write. This simulates the command WAIT of Redis. The server waits
/// for the confirmations for at most a second, a third of the command timeout, or a third of the
/// lease, whichever is shortest. If the server never had a replica, it confirms everything at once.
///
/// Thread safety: any thread may call every member.
class HOLDFAST_EXPORT server {
public:
    server();                ///< uses the real clock
    explicit server(clock&); ///< uses the simulation's clock, which must outlive the server
    server(const server&) = delete;
    ~server();

    /// Returns the value of `options::store` for a client of this server. `faults`, if given, is
    /// called for each request of that client, on that client's executor.
    store_factory connect(fault_function faults = {},
                          duration command_timeout = std::chrono::seconds{3});
    store_factory connect(way);

    /// Makes the server tie each hold to the session of its client. Throws `std::logic_error` if
    /// there are replicas, because a server with sessions cannot have replicas.
    void keep_by_session(duration session_time);

    // Functions for the clocks. Each machine of the server has its own clock. The clock of the
    // primary decides when a lease expires and whether a request arrives after its deadline. A
    // replica receives the expiry times as times on the primary's clock.
    void step_clock(duration); ///< moves the primary's clock at once, forward or back
    void step_clock(std::size_t machine, duration);

    // Functions for machines and replicas. The machines have numbers, starting with 0. The
    // functions throw `std::out_of_range` if no machine has the given number.

    /// Adds `count` replicas of the primary. Each write reaches them after `lag`, and their
    /// confirmation reaches the primary after another `lag`. Throws `std::logic_error` if
    /// keep_by_session() was called.
    void replicate(std::size_t count, duration lag = {});
    void set_lag(std::size_t replica, duration); ///< for writes after this call
    /// Disconnects a replica. From then on, the replica receives no writes, not even the writes
    /// that are on their way, and it confirms nothing.
    void cut_replica(std::size_t replica);
    /// Stops a machine. Requests and writes that are sent to the machine wait until it resumes.
    void stop(std::size_t machine);
    void resume(std::size_t machine);
    /// Makes a machine the primary, and announces it to the clients. The machine has only the
    /// writes that have reached it until now, and it has no replicas. The old primary does not know
    /// of the new primary; it continues with its other replicas.
    void promote(std::size_t machine);
    /// Makes a machine a replica of the primary. The primary sends the machine a full copy; the
    /// machine keeps its old data until the copy has arrived. The machine replies to clients that
    /// it takes no writes. Throws `std::logic_error` if the machine is the primary: promote another
    /// machine first.
    void demote(std::size_t machine);
    /// Restarts a machine without its data. No client is notified. A replica stays empty until it
    /// has received a full copy. If the primary is restarted, its replicas become empty, too.
    void restart_empty(std::size_t machine);

    // Functions that change the data of the primary.

    /// Makes the primary forget every lock, counter and remembered request, like a server that
    /// restarts without its data. No client is notified. Later replies report the time of this
    /// restart.
    void restart_empty();
    bool evict(const lock_name&); ///< forgets one lock, notifies nobody
    /// Gives the lock to a foreign owner (not a client of this server), even if another owner holds
    /// the lock. With kind `read`, the foreign owner becomes one of the readers. With kind `token`,
    /// the foreign owner is a program that does not use holdfast.
    void occupy(const lock_name&, duration lease, lock_kind = lock_kind::plain);
    /// Releases the lock that the foreign owner holds. Notifies the waiters, except for kind
    /// `token`.
    bool vacate(const lock_name&);

    /// Returns the server with this name in this process (URL `memory:NAME`). The server is created
    /// by the first call, and exists as long as it is in use.
    static std::shared_ptr<server> named(std::string_view name);

private:
    friend struct test_access; // functions for the tests of holdfast itself

    explicit server(std::shared_ptr<server_group>);

    std::shared_ptr<server_group> group_;
};

} // namespace holdfast::memory
