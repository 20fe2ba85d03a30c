// SPDX-License-Identifier: Apache-2.0
// Interface of a store for the conformance tests. With it, the tests move the server's clock,
// delete its data, or take locks as another library does. A new store needs one implementation and
// one line in stores().
#pragma once

#include <holdfast/counters.hpp>
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::conformance {

/// Timeout of a request on a connection that loses replies. It is short, so that the client has
/// soon cleaned up after a lost reply.
inline constexpr duration bad_way_timeout{500};

class store_under_test {
public:
    virtual ~store_under_test() = default;

    /// Sets the kind of the locks that `stranger_takes` takes.
    void keep(lock_kind kind) { kept_ = kind; }

    /// Sets the options with which a client reaches this store. Keeps the other options.
    virtual void reach(options&) = 0;

    /// Does the same, with a connection on which `lose_answer_about` can lose a reply: the reply to
    /// the next request about `name`.
    virtual void reach_badly(options&) = 0;
    virtual void lose_answer_about(const std::string& name) = 0;

    // Changes of the server. `pass` moves its clock forward, so that leases end.
    virtual void pass(duration) = 0;
    virtual void restart_empty() = 0;
    virtual void stop_answering() = 0; ///< stops the server for ever
    virtual void freeze() = 0;         ///< stops replies until thaw(); the server keeps its data
    virtual void thaw() = 0;
    virtual void evict(const std::string& name) = 0;

    // Locks of a stranger: another program, such as a JVM with Redisson.
    virtual void stranger_takes(const std::string& name, duration lease) = 0;
    /// Takes a token lock, as redis-py, redsync and node-redlock do. Without `lease`, it never
    /// expires.
    virtual void stranger_sets_token(const std::string& name, std::optional<duration> lease) = 0;
    virtual void stranger_releases(const std::string& name) = 0;
    virtual void stranger_queues(const std::string& name) = 0; ///< joins the queue of a fair lock
    /// Takes a read-write lock to read or to write (`side`). Other readers keep their holds.
    virtual void stranger_shares(const std::string& name, lock_kind side, duration lease) = 0;

    // Counters that a stranger changes or reads.
    virtual void stranger_adds(const std::string& name, std::int64_t permits) = 0;
    /// The leased semaphore must have a free permit.
    virtual void stranger_takes_permit(const std::string& name, duration lease) = 0;
    virtual void stranger_counts_down(const std::string& name) = 0;
    virtual std::optional<std::int64_t> counter(const std::string& name) = 0; ///< empty: none

    // A replica of the server.
    virtual bool replicate() { return false; } ///< starts it; false: this store has none
    virtual void cut_replica() {}              ///< cuts it off from the server
    virtual void mend_replica() {}             ///< ends the cut; it soon has all data again
    /// Makes the replica the primary, with the data that it has, and the old server its replica.
    virtual void fail_over() {}

    // Differences from Redis. A test leaves a part out, or is skipped, if the store lacks what it
    // needs.

    /// Whether a lock ends with its client's session, and not after a lease of its own.
    virtual bool leases_by_session() const { return false; }
    /// Whether `listeners` and inspections count the waiters that are notified of releases without
    /// an entry in a queue.
    virtual bool counts_listeners() const { return true; }
    /// Whether an inspection tells which waiters in a queue are subscribed to notifications.
    virtual bool tells_who_listens() const { return true; }
    /// Whether `pass` moves the server's clock (from which dated tokens come), and can move it
    /// back.
    virtual bool moves_its_clock() const { return true; }
    /// Whether only fenced locks have tokens (1, 2, 3, … for each name), and the last token of a
    /// free lock can be read.
    virtual bool counts_tokens() const { return true; }
    /// Whether a program can ask the holder of a lock to release it soon.
    virtual bool has_wishes() const { return true; }
    /// Whether a lock of another kind with the same name is refused with `wrong_type`.
    virtual bool tells_kinds_apart() const { return true; }
    /// Whether `requests` counts exactly the requests about locks, and each attempt, release and
    /// renewal is one request.
    virtual bool counts_requests() const { return true; }

    /// Whether a waiter uses one subscription and sends no request while nothing changes.
    virtual bool waiters_only_listen() const { return true; }
    /// Whether the number of permits of a leased semaphore can change, and each permit has its own
    /// lease.
    virtual bool changes_permits() const { return true; }
    /// Returns the length of the longest name that has only letters, in bytes.
    virtual std::size_t name_bytes_max() const { return std::size_t{64} * 1024; }

    /// Returns the longest time that a waiter's entry in a queue lasts. It must be longer than a
    /// failover.
    virtual duration place_lasts_at_most() const { return std::chrono::seconds{30}; }

    virtual std::size_t held() = 0;                           ///< number of locks that are held
    virtual std::size_t waiting(const std::string& name) = 0; ///< length of a fair lock's queue
    virtual std::size_t listeners() = 0; ///< number of waiters that would be notified
    virtual std::size_t requests() = 0;  ///< number of requests of all clients about locks

    /// Creates a key of this name that is not a lock. False: this store has no such keys.
    virtual bool put_something_else(const std::string& name) = 0;

protected:
    bool keeps_tokens() const { return kept_ == lock_kind::token; }

private:
    lock_kind kept_ = lock_kind::plain;
};

struct store_kind {
    std::string label;
    /// Starts the store. Throws `support::server_unavailable` if a program is missing.
    std::function<std::unique_ptr<store_under_test>()> make;
    lock_kind locks = lock_kind::plain;    ///< kind of the tests' `mutex` (see suite.hpp)
    std::vector<lock_kind> without{};      ///< kinds of locks that the store lacks
    std::vector<counter_kind> uncounted{}; ///< kinds of counters that the store lacks

    bool has(lock_kind kind) const { return std::ranges::find(without, kind) == without.end(); }
    bool has(counter_kind kind) const {
        return std::ranges::find(uncounted, kind) == uncounted.end();
    }
};

inline std::string label_of(lock_kind kind) {
    return kind == lock_kind::spin     ? "spin"
           : kind == lock_kind::fenced ? "fenced"
           : kind == lock_kind::token  ? "token"
                                       : "plain";
}

inline void PrintTo(const store_kind& kind, std::ostream* to) {
    *to << label_of(kind.locks) << " locks of " << kind.label;
}

std::unique_ptr<store_under_test> make_memory();
std::vector<store_kind> redis_servers();
std::vector<store_kind> zookeeper_servers();
store_kind mysql_server(); // only if HOLDFAST_TEST_MYSQL is defined

inline std::vector<store_kind> stores() {
    std::vector<store_kind> all = redis_servers();
    all.insert(all.begin(), {"memory", make_memory});
    for (store_kind& each : zookeeper_servers())
        all.push_back(std::move(each));
#ifdef HOLDFAST_TEST_MYSQL
    all.push_back(mysql_server());
#endif
    return all;
}

/// Returns each store with plain locks, and also with each of these kinds. Stores over TLS have
/// plain locks only.
inline std::vector<store_kind> stores_with(std::initializer_list<lock_kind> kinds) {
    const std::vector<store_kind> plain = stores();
    std::vector<store_kind> all = plain;
    for (const lock_kind kind : kinds)
        for (store_kind each : plain)
            if (!each.label.ends_with("-tls") && each.has(kind)) {
                each.locks = kind;
                all.push_back(std::move(each));
            }
    return all;
}

/// Returns the stores that have all of these kinds of locks or counters.
template <typename... Kinds>
std::vector<store_kind> stores_that_have(Kinds... kinds) {
    std::vector<store_kind> some = stores();
    std::erase_if(some, [&](const store_kind& each) { return !(each.has(kinds) && ...); });
    return some;
}

} // namespace holdfast::conformance
