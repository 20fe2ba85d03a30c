// SPDX-License-Identifier: Apache-2.0
// Clients, threads, locks and counters in another process, which is a JVM or a holdfast process.
// README.md lists the commands.
#pragma once

#include "interop/peer.hpp"

#include <holdfast/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::interop {

// Clients, threads and locks in another process, of either side. What the commands of README.md are
// to a test.

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
    bool direct_hand_off = false; ///< ours alone: releases grant mutexes to the next client
    std::optional<unsigned> required_replicas{}; ///< ours alone
    std::optional<std::string> prefix{};         ///< ours alone: of all names
    std::optional<std::string> root{};           ///< at ZooKeeper, of the paths of all locks
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

// An RSemaphore, an RCountDownLatch, an RPermitExpirableSemaphore and an RRateLimiter in another
// process, of either side.

/// What all are, as one thread sees it. What a call may throw is a `peer_failure`.
class remote_counter {
public:
    remote_counter(const remote_thread& by, const std::string& name, const std::string& getter)
        : peer_{&by.client().process()}
        , call_{by.call(name, getter)} {}

    /// Redisson's `delete`.
    bool erase() { return ask("delete").as_bool(); }

    bool cancel(const ongoing& waiting) {
        json::object all = call_;
        all["do"] = "cancel";
        all["target"] = waiting.id;
        return peer_->ask(std::move(all)).as_bool();
    }

protected:
    ongoing begin(const std::string& method, json::array arguments = {}) {
        json::object all = call_;
        all["method"] = method;
        all["args"] = std::move(arguments);
        return peer_->begin(std::move(all));
    }
    json::value ask(const std::string& method, json::array arguments = {}) {
        return support::soon(begin(method, std::move(arguments)).answer);
    }

    static constexpr const char* unit = "MILLISECONDS";
    static json::object as_object(duration length) { return {{"ms", length.count()}}; }

private:
    peer* peer_;
    json::object call_;
};

class remote_semaphore : public remote_counter {
public:
    explicit remote_semaphore(const remote_thread& by, const std::string& name = "L")
        : remote_counter{by, name, "getSemaphore"} {}

    void acquire(int permits = 1) { (void)ask("acquire", {permits}); }
    bool try_acquire(int permits = 1) { return ask("tryAcquire", {permits}).as_bool(); }
    bool try_acquire_for(duration timeout, int permits = 1) {
        return support::soon(begin_try_acquire_for(timeout, permits).answer).as_bool();
    }
    void release() { (void)ask("release"); }
    void release(int permits) { (void)ask("release", {permits}); }
    /// Since Redisson 4.0.
    bool release_if_exists(int permits) { return ask("releaseIfExists", {permits}).as_bool(); }

    bool try_set_permits(int permits) { return ask("trySetPermits", {permits}).as_bool(); }
    /// Since Redisson 3.29.
    bool try_set_permits(int permits, duration kept) {
        return ask("trySetPermits", {permits, as_object(kept)}).as_bool();
    }
    void add_permits(int permits) { (void)ask("addPermits", {permits}); }
    std::int64_t drain_permits() { return ask("drainPermits").as_int64(); }
    std::int64_t available_permits() { return ask("availablePermits").as_int64(); }

    ongoing begin_acquire(int permits = 1) { return begin("acquire", {permits}); }
    ongoing begin_acquire_async(int permits = 1) { return begin("acquireAsync", {permits}); }
    ongoing begin_try_acquire_for(duration timeout, int permits = 1) {
        return begin("tryAcquire", {permits, timeout.count(), unit});
    }
};

class remote_latch : public remote_counter {
public:
    explicit remote_latch(const remote_thread& by, const std::string& name = "L")
        : remote_counter{by, name, "getCountDownLatch"} {}

    bool try_set_count(int count) { return ask("trySetCount", {count}).as_bool(); }
    void count_down() { (void)ask("countDown"); }
    std::int64_t count() { return ask("getCount").as_int64(); }

    void wait() { (void)ask("await"); }
    bool wait_for(duration timeout) {
        return support::soon(begin_wait_for(timeout).answer).as_bool();
    }
    ongoing begin_wait() { return begin("await"); }
    ongoing begin_wait_async() { return begin("awaitAsync"); }
    ongoing begin_wait_for(duration timeout) { return begin("await", {timeout.count(), unit}); }
};

/// Permits are texts, as Redisson's users see them. Ours release what they hold themselves by its
/// lease. Several at once, and how many are held: since Redisson 3.23.
class remote_permits : public remote_counter {
public:
    using id = std::string;

    explicit remote_permits(const remote_thread& by, const std::string& name = "L")
        : remote_counter{by, name, "getPermitExpirableSemaphore"} {}

    /// A JVM's has no end, one of ours is renewed.
    id acquire() { return json::value_to<id>(ask("acquire")); }
    id acquire(duration lease) { return json::value_to<id>(ask("acquire", {lease.count(), unit})); }
    std::vector<id> acquire_several(int permits) {
        return json::value_to<std::vector<id>>(ask("acquire", {permits}));
    }
    std::optional<id> try_acquire() { return id_in(ask("tryAcquire")); }
    std::optional<id> try_acquire_for(duration timeout) {
        return id_in(ask("tryAcquire", {timeout.count(), unit}));
    }
    std::optional<id> try_acquire_for(duration timeout, duration lease) {
        return id_in(ask("tryAcquire", {timeout.count(), lease.count(), unit}));
    }
    std::vector<id> try_acquire_several(int permits) {
        return json::value_to<std::vector<id>>(ask("tryAcquire", {permits}));
    }
    ongoing begin_acquire_several(int permits) { return begin("acquire", {permits}); }
    ongoing begin_acquire_several_async(int permits) { return begin("acquireAsync", {permits}); }
    ongoing begin_acquire() { return begin("acquire"); }
    ongoing begin_acquire(duration lease) { return begin("acquire", {lease.count(), unit}); }
    ongoing begin_acquire_async(duration lease) {
        return begin("acquireAsync", {lease.count(), unit});
    }
    ongoing begin_try_acquire_async_for(duration timeout, duration lease) {
        return begin("tryAcquireAsync", {timeout.count(), lease.count(), unit});
    }

    bool try_release(const id& permit) { return ask("tryRelease", {permit}).as_bool(); }
    /// How many of them.
    std::int64_t try_release_several(const std::vector<id>& permits) {
        return ask("tryRelease", {json::value_from(permits)}).as_int64();
    }
    bool set_lease(const id& permit, duration lease) {
        return ask("updateLeaseTime", {permit, lease.count(), unit}).as_bool();
    }
    /// A JVM's alone, since Redisson 3.41.
    duration lease_left(const id& permit) {
        return duration{ask("getLeaseTime", {permit}).as_int64()};
    }
    /// Ours alone: whether it is believed.
    bool is_held(const id& permit) { return ask("isHeld", {permit}).as_bool(); }

    bool try_set_permits(int permits) { return ask("trySetPermits", {permits}).as_bool(); }
    /// Since Redisson 3.19.
    void set_permits(int permits) { (void)ask("setPermits", {permits}); }
    void add_permits(int permits) { (void)ask("addPermits", {permits}); }
    std::int64_t available_permits() { return ask("availablePermits").as_int64(); }
    std::int64_t acquired_permits() { return ask("acquiredPermits").as_int64(); }
    /// A JVM's alone, since Redisson 3.19: the held ones too.
    std::int64_t permits_in_all() { return ask("getPermits").as_int64(); }

private:
    static std::optional<id> id_in(const json::value& said) {
        if (said.is_null())
            return {};
        return json::value_to<id>(said);
    }
};

/// Intervals are in milliseconds.
class remote_rate : public remote_counter {
public:
    struct config {
        std::string mode; ///< "OVERALL" or "PER_CLIENT"
        std::int64_t permits;
        duration interval;
        bool operator==(const config&) const = default;
    };

    explicit remote_rate(const remote_thread& by, const std::string& name = "L")
        : remote_counter{by, name, "getRateLimiter"} {}

    bool try_set_rate(const config& to) { return ask("trySetRate", words_of(to)).as_bool(); }
    void set_rate(const config& to) { (void)ask("setRate", words_of(to)); }
    /// Unused for so long, it is gone. Since Redisson 3.38.
    bool try_set_rate(const config& to, duration kept) {
        return ask("trySetRate",
                   {json::string(to.mode), to.permits, as_object(to.interval), as_object(kept)})
            .as_bool();
    }
    config current() {
        const json::object said = ask("getConfig").as_object();
        return {json::value_to<std::string>(said.at("rateType")), said.at("rate").as_int64(),
                duration{said.at("rateInterval").as_int64()}};
    }

    void acquire(int permits = 1) { (void)ask("acquire", {permits}); }
    ongoing begin_acquire(int permits = 1) { return begin("acquire", {permits}); }
    ongoing begin_acquire_async(int permits = 1) { return begin("acquireAsync", {permits}); }
    bool try_acquire(int permits = 1) { return ask("tryAcquire", {permits}).as_bool(); }
    bool try_acquire_for(duration timeout, int permits = 1) {
        return ask("tryAcquire", {permits, timeout.count(), unit}).as_bool();
    }
    ongoing begin_try_acquire_async_for(duration timeout, int permits = 1) {
        return begin("tryAcquireAsync", {permits, timeout.count(), unit});
    }
    /// Since Redisson 3.52.
    void release(int permits) { (void)ask("release", {permits}); }
    std::int64_t available_permits() { return ask("availablePermits").as_int64(); }

private:
    static json::array words_of(const config& to) {
        return {json::string(to.mode), to.permits, to.interval.count(), unit};
    }
};

} // namespace holdfast::interop
