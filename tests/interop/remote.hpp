// SPDX-License-Identifier: Apache-2.0
// Clients, threads and locks in another process, of either side. What the commands of README.md are
// to a test.
#pragma once

#include "interop/peer.hpp"

#include <holdfast/time.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::interop {

/// How clients reach where they meet: the URL of one server; else nodes of a cluster, or, with the
/// name of a service, Sentinels, each as "127.0.0.1:7000".
struct address {
    address() = default;
    address(std::string one_server) // so that a URL is one
        : url{std::move(one_server)} {}

    std::string url{};
    std::vector<std::string> nodes{};
    std::string service{};
};

/// What both sides understand; nothing: each side's own default.
struct client_settings {
    std::optional<duration> lease_time{}; ///< of renewed holds: lockWatchdogTimeout
    std::optional<duration> poll_bound{}; ///< ours alone: a JVM never asks but at the lease's end
    std::optional<duration> unavailable_timeout{}; ///< ours alone
    std::optional<duration> command_timeout{};     ///< ours alone
    std::optional<duration> waiter_timeout{};      ///< of our fair locks
    std::optional<duration> fair_wait{};           ///< what ours expect of JVMs' fair locks
    std::optional<std::string> redisson_form{};    ///< how old the JVMs are that ours write for
    std::optional<std::string> pubsub{};           ///< how ours tell releases in a cluster
    std::optional<unsigned> required_replicas{};   ///< ours alone
    std::optional<std::string> prefix{};           ///< ours alone: of all names
    std::optional<std::string> root{};             ///< at ZooKeeper, of the paths of all locks
    json::object keeper{};   ///< more for those at ZooKeeper: what each of them knows it takes
    json::object redisson{}; ///< setters of its Config
    json::object redisson_server{}; ///< setters of its configuration of servers
};

class remote_thread;

/// One client in a peer. Closed with the object, unless its process is gone.
class remote_client {
public:
    remote_client(peer&, bool is_jvm, const address& where, const client_settings& = {});
    remote_client(const remote_client&) = delete;
    ~remote_client();

    remote_thread thread(const std::string& name);

    bool is_jvm() const { return is_jvm_; }
    const std::string& id() const { return id_; } ///< the first half of its owners
    const std::string& label() const { return label_; }
    peer& process() { return peer_; }

private:
    peer& peer_;
    bool is_jvm_;
    std::string label_; ///< by which the process knows it
    std::string id_;
};

/// An RLock as one thread sees it, whichever getter made it. What a call may throw is a
/// `peer_failure`.
class remote_lock {
public:
    remote_lock(peer& where, json::object call)
        : peer_{&where}
        , call_{std::move(call)} {}

    /// The same lock and thread through the asynchronous calls.
    remote_lock async() const;
    /// The same, for calls that may take so long.
    remote_lock patient(std::chrono::seconds most) const;

    void lock() { (void)ask("lock"); }
    void lock(duration lease) { (void)ask("lock", {lease}); }
    bool try_lock() { return ask("tryLock").as_bool(); }
    bool try_lock_for(duration timeout) { return ask("tryLock", {timeout}).as_bool(); }
    bool try_lock_for(duration timeout, duration lease) {
        return ask("tryLock", {timeout, lease}).as_bool();
    }
    /// Whether it may not be locked again by its holder.
    bool refuses_reentry();

    /// Of a fenced lock: takes it, and the number of the hold.
    std::int64_t lock_and_get_token() { return ask("lockAndGetToken").as_int64(); }
    std::int64_t token() { return ask("getToken").as_int64(); }
    ongoing begin_lock_and_get_token() { return begin("lockAndGetToken"); }

    /// False: it was not, or no longer, this thread's.
    bool unlock();
    bool force_unlock() { return ask("forceUnlock").as_bool(); }

    bool is_locked() { return ask("isLocked").as_bool(); }
    bool is_held() { return ask("isHeldByCurrentThread").as_bool(); }
    std::int64_t hold_count() { return ask("getHoldCount").as_int64(); }
    /// −2 ms if it is free, −1 ms if its lease has no end.
    duration remaining() { return duration{ask("remainTimeToLive").as_int64()}; }

    /// The same, without waiting for the answer.
    ongoing begin_lock() { return begin("lock"); }
    ongoing begin_lock(duration lease) { return begin("lock", {lease}); }
    ongoing begin_lock_interruptibly() { return begin("lockInterruptibly"); }
    ongoing begin_try_lock_for(duration timeout) { return begin("tryLock", {timeout}); }
    ongoing begin_unlock() { return begin("unlock"); }

    /// Whether the thread can be interrupted as Redisson means it.
    bool is_asleep() { return tell("asleep").as_bool(); }
    void interrupt() { tell("interrupt"); }
    bool cancel(const ongoing&);

    /// A JVM's listeners to the end and the deletion of the lock's key: "expired L", "deleted L".
    void listen() { tell("listen"); }
    std::vector<std::string> heard();
    void unlisten() { tell("unlisten"); }

    /// How long each of so many `isLocked()` took, in microseconds, as the thread itself saw it.
    std::vector<std::int64_t> round_trips(int count);

private:
    json::value tell(const std::string& verb);
    json::object command(const std::string& method, const std::vector<duration>& lengths) const;
    ongoing begin(const std::string& method, const std::vector<duration>& lengths = {}) {
        return peer_->begin(command(method, lengths));
    }
    json::value ask(const std::string& method, const std::vector<duration>& lengths = {}) {
        return support::soon(begin(method, lengths).answer, most_);
    }

    peer* peer_;
    json::object call_;
    std::string suffix_;
    std::chrono::seconds most_ = support::far_too_long;
};

/// One thread of a client. It does one thing after the other.
class remote_thread {
public:
    remote_thread(remote_client& of, std::string name)
        : client_{&of}
        , name_{std::move(name)} {}

    remote_lock lock(const std::string& name, const std::string& getter = "getLock") const;

    remote_client& client() const { return *client_; }

    /// What every call by it says, of what that getter makes.
    json::object call(const std::string& name, const std::string& getter) const;

    /// What it writes as owner begins so: all of it, where that can be known.
    std::string owner() const;

private:
    remote_client* client_;
    std::string name_;
};

} // namespace holdfast::interop
