// SPDX-License-Identifier: Apache-2.0
// Contenders: classes that repeat one operation on locks as fast as possible, for a comparison of
// two of them. This file has their base classes, their loops, their servers and settings (`arena`),
// and the functions that create them.
#pragma once

#include "bench/figures/samples.hpp"
#include "bench/server/cpu_time.hpp"
#include "bench/server/server.hpp"

#include <holdfast/mutex.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

namespace holdfast::bench {

using stopwatch = std::chrono::steady_clock;

class contender {
public:
    virtual ~contender() = default;

    /// Repeats the operation for the time `length`. Then waits for the end of the last operation.
    /// Throws if an operation fails.
    virtual tally run(nanoseconds length) = 0;

    /// Returns the minimum and maximum number of scripts that the server must have run: by default
    /// two for each pair of lock and unlock.
    virtual claim scripts_for(const tally& all) const { return {2 * all.done, 2 * all.done}; }

    /// Returns the CPU time of the process that does the work.
    virtual double cpu_seconds() const { return own_cpu_seconds(); }

    /// Returns the memory of a process that holds the lock, for contenders that start a process for
    /// each lock.
    virtual double memory_kb() const { return 0; }
};

// Loops for contenders with threads.

/// Starts all threads together. Each thread calls `once` with its own number until `length` has
/// passed. `once` runs one operation, and returns the time to record for it.
tally in_threads(int threads, nanoseconds length, const std::function<nanoseconds(int)>& once);

/// Returns how long the call of `what` takes.
template <typename What>
nanoseconds time_of(What what) {
    const auto begin = stopwatch::now();
    what();
    return stopwatch::now() - begin;
}

/// Runs threads that all want one lock all the time. A sample is how long a thread waited for the
/// lock. Throws if two threads held the lock at the same time.
template <typename Enter, typename Leave>
tally through_one_lock(int threads, nanoseconds length, Enter enter, Leave leave) {
    long long entered = 0; // guarded only by the measured lock
    const tally all = in_threads(threads, length, [&](int) {
        const nanoseconds waited = time_of(enter);
        ++entered;
        leave();
        return waited;
    });
    if (entered != all.done)
        throw std::runtime_error{"two threads were inside one lock at the same time"};
    return all;
}

/// Runs one thread that alternately takes a lock without and with a replica's confirmation. A
/// sample is how much longer the confirmed lock took. The two locks are measured shortly after one
/// another, so that a busy machine slows both down.
template <typename Lock, typename Unlock, typename ConfirmedLock, typename ConfirmedUnlock>
tally of_both(nanoseconds length, Lock lock, Unlock unlock, ConfirmedLock confirmed_lock,
              ConfirmedUnlock confirmed_unlock) {
    return in_threads(1, length, [&](int) {
        const nanoseconds alone = time_of(lock);
        unlock();
        const nanoseconds confirmed = time_of(confirmed_lock);
        confirmed_unlock();
        return confirmed - alone;
    });
}

/// Kinds of samples: the time until the lock is granted, or the time of the whole pair of lock and
/// unlock.
enum class sampled { lock, pair };

/// Returns the sample of a pair of lock and unlock. The pair began at `begin`, the lock was granted
/// at `taken`, and the pair has just ended.
inline nanoseconds sample_of(sampled what, stopwatch::time_point begin,
                             stopwatch::time_point taken) {
    return (what == sampled::lock ? taken : stopwatch::now()) - begin;
}

/// Releases the lock. Throws if the lock was no longer held.
inline void expect_unlocked(basic_mutex& held) {
    error_code failure;
    held.unlock(failure);
    if (failure)
        throw boost::system::system_error{failure, "unlock"};
}

// Base of the contenders that measure how fast one client wakes a waiter of another client.

/// Contender that measures wake-ups. A sample is the time from the call that wakes the waiter (for
/// example unlock()) until the waiter's call returns.
class relay : public contender {
public:
    /// Random time from the start of the wait to the wake-up. After 2 ms, the waiter has made a
    /// failed attempt, has subscribed, and sleeps. For a waiter that polls, `most` minus `least`
    /// should be its poll interval.
    struct pause {
        std::chrono::microseconds least{2'000}, most{2'000};
    };
    static constexpr pause a_while{std::chrono::milliseconds{40}, std::chrono::milliseconds{60}};

    relay() = default;
    explicit relay(pause how_long)
        : pause_{how_long} {}

    tally run(nanoseconds length) override;

    /// There is no maximum number of scripts, because each waiter first makes a failed attempt.
    claim scripts_for(const tally& all) const override;

private:
    virtual void hold_back() = 0; ///< makes every later wait block
    virtual void wait() = 0;      ///< waits; called on the waiter's own thread
    virtual void give_back() {}   ///< called after `wait`, on the same thread
    virtual void let_go_on() = 0;

    nanoseconds wake_up();
    std::chrono::microseconds length_of_pause();

    const pause pause_{};
    std::minstd_rand chance_; // gives the same sequence in each run
};

class redisson;

/// Servers and settings for the two contenders of one comparison.
struct arena {
    const server& home;
    transport way;     ///< how both sides connect
    std::string query; ///< URL parameters of the holdfast client, for example "?poll_bound=1s"
    int at_once;       ///< number of threads, coroutines or pending requests
    redisson& java;
    more_servers& more;          ///< servers in addition to `home`
    std::optional<site> group{}; ///< used instead of `home`

    /// Returns the URL for the holdfast client. `announce=no` prevents requests with client
    /// information, which would be counted in the statistics.
    std::string url() const { return group ? with_settings(group->url) : url_of(home); }
    std::string url_of(const server& which) const { return with_settings(which.url(way)); }
    std::string with_settings(const std::string& address) const {
        return address + query + (query.empty() ? '?' : '&') + "announce=no";
    }

    /// Connects to the server. If the arena has a group, connects to the group's first primary.
    connection connect() const {
        return group ? connect_to(group->ports.front()) : home.connect(way);
    }
};

/// Returns the statistics of all Redis servers in the arena.
inline accounts books_of(const arena& where) {
    return where.group ? accounts{connect_to_all(*where.group)}
                       : accounts{where.home.connect(transport::unix_socket)};
}

/// Returns the statistics of all servers in the arena, of any store.
inline std::unique_ptr<ledger> ledger_of(const arena& where) {
    if (where.group && where.group->books)
        return where.group->books();
    return std::make_unique<accounts>(books_of(where));
}

/// Returns the name of lock `i`. This is the lock of thread `i`, coroutine `i` or pending request
/// `i`. Both contenders of a comparison use the same names.
inline std::string name_of_lock(int i) {
    return "bench:" + std::to_string(i);
}

using made = std::unique_ptr<contender>;

// Contenders in which each thread has a lock of its own. holdfast uses one client for all threads;
// the comparison program has a blocking socket for each thread.
made holdfast_threads(const arena&);
// Contender whose unlock() does not wait for the server's reply.
made holdfast_deferring(const arena&);
made bare_sockets(const arena&);
made bare_sockets_with_set_nx(const arena&);

// Contenders with coroutines on one thread. The comparison program has one connection with the same
// number of pending requests.
made holdfast_coroutines(const arena&);
made raw_pipeline(const arena&);

// Contenders on a primary whose replicas must confirm each grant. The comparison program sends one
// WAIT for all requests that it writes together. The last two functions measure how much longer a
// grant takes if one replica confirms it.
made bare_sockets_confirmed_by_one(const arena&);
made bare_sockets_confirmed_by_two(const arena&);
made raw_pipeline_confirmed_by_one(const arena&);
made raw_pipeline_confirmed_by_two(const arena&);
made holdfast_confirmation(const arena&);
made bare_confirmation(const arena&);

// Contenders with locks in a cluster. The first has a connection to each primary. The second has a
// cluster of one node. In the third, a release notification goes only to the shard of the lock.
made raw_slots(const arena&);
made holdfast_coroutines_at_one_node(const arena&);
made holdfast_coroutines_telling_shards(const arena&);

// Contenders in which all threads of the process want one lock. The comparison program
// (`bare_hand_off`) is a fair lock without a server. In the last function, one thread takes a lock
// that it holds already.
made holdfast_gate(const arena&);
made holdfast_fenced_gate(const arena&); // each grant has a fencing token
made bare_hand_off(const arena&);
made holdfast_reentry(const arena&);

// Contenders in which all threads of the process use one reader-writer lock. The comparison program
// has a blocking socket for each thread. In the last function, one thread writes, and all others
// read.
made holdfast_readers(const arena&);
made bare_readers(const arena&);
made holdfast_readers_and_writer(const arena&);

// Contenders in which several processes wait for one fair lock. They throw `not_here` if Redisson
// is missing.
made holdfast_fair(const arena&);
made redisson_fair(const arena&);

// Measures the time from a release by one client until a waiter of another client has the lock.
made holdfast_wake_up(const arena&);
made holdfast_late_wake_up(const arena&);      // the waiter has waited for some time
made holdfast_wake_up_of_reader(const arena&); // a reader is woken by a writer
made holdfast_wake_up_of_writer(const arena&); // a writer is woken by a reader

// Contenders in which all threads of the process use one semaphore. In the first contender, the
// semaphore has fewer permits than there are threads. In the second contender, it has enough
// permits for all threads.
made holdfast_semaphore(const arena&);
made holdfast_free_semaphore(const arena&);

// Contenders in which all threads of the process use leased permits, or a rate limiter of
// `draws_of_a_rate` permits in 100 ms.
inline constexpr int draws_of_a_rate = 200;
made holdfast_permits(const arena&);
made holdfast_rate(const arena&);

// Contenders that measure the time from the release of a permit, or from the opening of a latch,
// until a waiter wakes.
made holdfast_wake_up_by_permit(const arena&);
made holdfast_wake_up_by_latch(const arena&);

// Contenders that start a command (`holdfast run` or flock(1)) for each lock. They throw `not_here`
// if a program is missing.
made holdfast_commands(const arena&);
made flock_commands(const arena&);

// Contenders in which one client takes three locks as one lock. The comparison program sends one
// script and reads its reply.
made holdfast_multi(const arena&);
made holdfast_multi_pairs(const arena&);
made bare_round_trips(const arena&);

// Contenders with one lock on three or five servers. The comparison program has a socket to each
// server, and waits for the replies of a majority. In the third function, one of the five servers
// is down.
made holdfast_quorum_3(const arena&);
made holdfast_quorum_5(const arena&);
made holdfast_quorum_5_one_dead(const arena&);
made holdfast_quorum_pairs(const arena&); // on five servers; a sample includes the release
// Contender on five servers, to compare with redsync and node-redlock.
made holdfast_quorum_token_pairs(const arena&);
made bare_nodes_3(const arena&);
made bare_nodes_5(const arena&);

// Redisson over TCP. The first call starts the JVM. Throws `not_here` if Redisson is missing.
made redisson_threads(const arena&);
made redisson_async(const arena&);
made redisson_red_lock(const arena&); // on five servers
made redisson_gate(const arena&);
made redisson_reentry(const arena&);
made redisson_readers_and_writer(const arena&);
made redisson_semaphore(const arena&);
made redisson_free_semaphore(const arena&);
made redisson_permits(const arena&);
made redisson_rate(const arena&);
made redisson_confirmed(const arena&); ///< both replicas confirm each grant and each release

// Contenders on ZooKeeper, with holdfast and with Curator. In a queue, all threads want one lock,
// each through its own client. Curator's functions throw `not_here` if Curator is missing.
made holdfast_queue(const arena&);
made curator_threads(const arena&);
made curator_queue(const arena&);

// Locks of other libraries on five servers, over TCP. The functions throw `not_here` if the library
// is missing.
made redsync_quorum(const arena&);
made node_redlock_quorum(const arena&);

} // namespace holdfast::bench
