// SPDX-License-Identifier: Apache-2.0
// What the suite asks of a store, beside what users ask: to move its clock, to lose its memory, to
// let a stranger in. A new store is one implementation and one line in stores().
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

/// A request is given up so soon on a way that loses answers: what may still come of it is over
/// then, and whoever cleans up behind it is done.
inline constexpr duration bad_way_timeout{500};

class store_under_test {
public:
    virtual ~store_under_test() = default;

    /// Strangers take locks of that kind, as another client of ours does where it is one of ours.
    void keep(lock_kind kind) { kept_ = kind; }

    /// Makes a client of this store what it is; the rest of the options are the test's.
    virtual void reach(options&) = 0;

    /// The same, on a way where the answer to the next request about `name` can be lost.
    virtual void reach_badly(options&) = 0;
    virtual void lose_answer_about(const std::string& name) = 0;

    // The server's own clock: leases end by it.
    virtual void pass(duration) = 0;
    virtual void restart_empty() = 0;
    virtual void stop_answering() = 0; ///< for good
    virtual void freeze() = 0;         ///< answers nothing until it thaws, and forgets nothing
    virtual void thaw() = 0;
    virtual void evict(const std::string& name) = 0;

    // A holder of another kind, as a JVM would be.
    virtual void stranger_takes(const std::string& name, duration lease) = 0;
    /// As redis-py, redsync and node-redlock take one; nothing: without an end, as the first does.
    virtual void stranger_sets_token(const std::string& name, std::optional<duration> lease) = 0;
    virtual void stranger_releases(const std::string& name) = 0;
    virtual void stranger_queues(const std::string& name) = 0; ///< as a JVM does for a fair lock
    /// The same of one side of a lock that can be shared; to read, beside others who do.
    virtual void stranger_shares(const std::string& name, lock_kind side, duration lease) = 0;

    // Counters, as a JVM changes and sees them.
    virtual void stranger_adds(const std::string& name, std::int64_t permits) = 0;
    /// Of a leased semaphore that has one.
    virtual void stranger_takes_permit(const std::string& name, duration lease) = 0;
    virtual void stranger_counts_down(const std::string& name) = 0;
    virtual std::optional<std::int64_t> counter(const std::string& name) = 0; ///< empty: none

    // A replica, which can take the server's place.
    virtual bool replicate() { return false; } ///< false: there can be none here
    virtual void cut_replica() {}              ///< nothing reaches it, and it confirms nothing
    virtual void mend_replica() {}             ///< it has all again, soon
    /// It takes over with what it has; the old one is its replica from then on.
    virtual void fail_over() {}

    // In what a store is unlike Redis. A test that needs the contrary leaves that part out, or is
    // skipped.
    /// A hold ends with the session of its client: a lease has no length of its own there, and
    /// nobody tells how long a stranger's lasts.
    virtual bool leases_by_session() const { return false; }
    /// Those who are told of releases and stand in no queue are counted: by `listeners`, and by
    /// whoever inspects a lock.
    virtual bool counts_listeners() const { return true; }
    /// Of those who stand in a queue, whoever inspects the lock is told which listen. Where all
    /// waiters ask again and again, nobody can tell.
    virtual bool tells_who_listens() const { return true; }
    /// `pass` is a jump of its clock, by which tokens are dated too, and may go back.
    virtual bool moves_its_clock() const { return true; }
    /// Fencing tokens are 1, 2, 3 for each name, only fenced locks have them, and the last one is
    /// known when the lock is free.
    virtual bool counts_tokens() const { return true; }
    /// A program can ask the holder of a lock to release it soon.
    virtual bool has_wishes() const { return true; }
    /// A lock of one name is of one kind: another kind is refused with `wrong_type`.
    virtual bool tells_kinds_apart() const { return true; }
    /// Every request about locks is counted by `requests`, and nothing else, and each look, release
    /// and renewal is one.
    virtual bool counts_requests() const { return true; }

    /// Whether a waiter uses one subscription and sends no request while nothing changes.
    virtual bool waiters_only_listen() const { return true; }
    /// The permits of a leased semaphore can become more or fewer, and each has a lease of its own.
    virtual bool changes_permits() const { return true; }
    /// The bytes of the longest name, if it has only letters.
    virtual std::size_t name_bytes_max() const { return std::size_t{64} * 1024; }

    /// A place in a queue must outlast what usually passes until another server takes over.
    virtual duration place_lasts_at_most() const { return std::chrono::seconds{30}; }

    virtual std::size_t held() = 0;                           ///< locks that the store knows
    virtual std::size_t waiting(const std::string& name) = 0; ///< in the queue of a fair lock
    virtual std::size_t listeners() = 0; ///< names or places that it would wake
    virtual std::size_t requests() = 0;  ///< about locks, so far; from all clients

    /// Puts something that is no lock under the name. False: there is no such thing here.
    virtual bool put_something_else(const std::string& name) = 0;

protected:
    bool keeps_tokens() const { return kept_ == lock_kind::token; }

private:
    lock_kind kept_ = lock_kind::plain;
};

struct store_kind {
    std::string label;
    /// Throws support::server_unavailable.
    std::function<std::unique_ptr<store_under_test>()> make;
    lock_kind locks = lock_kind::plain;    ///< what the tests' `mutex` is: suite.hpp
    std::vector<lock_kind> without{};      ///< it has no such locks
    std::vector<counter_kind> uncounted{}; ///< nor those

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
store_kind mysql_server(); // where HOLDFAST_TEST_MYSQL is defined: libmariadb was there

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

/// Each store with plain locks, and with each of these kinds too; but not over TLS, which is no
/// matter of a kind.
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

/// Those that have all of these kinds, of locks or of what is counted.
template <typename... Kinds>
std::vector<store_kind> stores_that_have(Kinds... kinds) {
    std::vector<store_kind> some = stores();
    std::erase_if(some, [&](const store_kind& each) { return !(each.has(kinds) && ...); });
    return some;
}

} // namespace holdfast::conformance
