// SPDX-License-Identifier: Apache-2.0
// Servers and settings of a contest (`arena`), and the functions that create its contenders.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/server/accounts.hpp"
#include "bench/server/more_servers.hpp"
#include "bench/server/site.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast::bench {

class redisson;

/// Servers and settings of one contest. They outlive the contenders.
struct arena {
    const server& home;
    transport way;     ///< how both sides connect
    std::string query; ///< URL parameters of the holdfast client, for example "?poll_bound=1s"
    int at_once;       ///< number of threads, coroutines or pending requests
    redisson& java;
    more_servers& more;          ///< servers besides `home`
    std::optional<site> group{}; ///< used instead of `home`

    /// Returns the URL for the holdfast client, with `announce` turned off. Otherwise the client
    /// would send its client information every half minute. The statistics count every script, so
    /// these requests would be counted too.
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

/// Returns the name of lock `i`. Both sides use the same names. Each thread, coroutine or pending
/// request has its own lock.
inline std::string name_of_lock(int i) {
    return "bench:" + std::to_string(i);
}

using made = std::unique_ptr<contender>;

// A free lock for each thread. holdfast uses one client for all threads. The yardstick has a bare
// blocking socket for each thread.
made holdfast_threads(const arena&);
made holdfast_deferring(const arena&); // does not wait for the replies to its releases
made bare_sockets(const arena&);
made bare_sockets_with_set_nx(const arena&);

// Coroutines on one thread. The yardstick is one connection with the same number of pending
// requests.
made holdfast_coroutines(const arena&);
made raw_pipeline(const arena&);

// Coroutines on a primary where replicas must confirm each grant. The yardstick sends one WAIT for
// all requests that it writes together. The last two functions measure how much longer a grant
// takes when one replica confirms it.
made bare_sockets_confirmed_by_one(const arena&);
made bare_sockets_confirmed_by_two(const arena&);
made raw_pipeline_confirmed_by_one(const arena&);
made raw_pipeline_confirmed_by_two(const arena&);
made holdfast_confirmation(const arena&);
made bare_confirmation(const arena&);

// Locks on a cluster. The yardstick has a connection to each primary. `at_one_node` runs the
// holdfast client on a cluster of one node, which the client takes for a single server. With
// `telling_shards`, release notifications go to only one shard.
made raw_slots(const arena&);
made holdfast_coroutines_at_one_node(const arena&);
made holdfast_coroutines_telling_shards(const arena&);

// One lock for all threads of the process. The yardstick is a fair lock without a server. In
// `reentry`, the only holder of a lock enters it again.
made holdfast_gate(const arena&);
made holdfast_fenced_gate(const arena&); // with a fencing token for each grant
made bare_hand_off(const arena&);
made holdfast_reentry(const arena&);

// One shared lock for all threads of the process. The yardstick has a bare blocking socket for each
// thread. In `readers_and_writer`, one thread writes and all other threads read.
made holdfast_readers(const arena&);
made bare_readers(const arena&);
made holdfast_readers_and_writer(const arena&);

// One fair lock, with a process for each waiter. Redisson's contender throws `not_here`.
made holdfast_fair(const arena&);
made redisson_fair(const arena&);

// Time from a release in one client until a waiter in another client has the lock.
made holdfast_wake_up(const arena&);
made holdfast_late_wake_up(const arena&);      // the waiter has waited for some time
made holdfast_wake_up_of_reader(const arena&); // a reader is woken by a writer
made holdfast_wake_up_of_writer(const arena&); // a writer is woken by a reader

// A semaphore for all threads of the process. Either it has fewer permits than threads, or enough
// permits.
made holdfast_semaphore(const arena&);
made holdfast_free_semaphore(const arena&);

// Leased permits for all threads of the process, and a rate limiter with `draws_of_a_rate` permits
// in 100 ms.
inline constexpr int draws_of_a_rate = 200;
made holdfast_permits(const arena&);
made holdfast_rate(const arena&);

// Time from the release of a permit, or the opening of a latch, until the waiter returns.
made holdfast_wake_up_by_permit(const arena&);
made holdfast_wake_up_by_latch(const arena&);

// Locks from the shell, with a process for each lock. These contenders throw `not_here`.
made holdfast_commands(const arena&);
made flock_commands(const arena&);

// Three locks that one client takes as one lock. The yardstick is one script and its reply.
made holdfast_multi(const arena&);
made holdfast_multi_pairs(const arena&);
made bare_round_trips(const arena&);

// One lock on three or five servers. The yardstick has a bare socket to each server and waits for
// the replies of a majority. In `one_dead`, one of five servers is down.
made holdfast_quorum_3(const arena&);
made holdfast_quorum_5(const arena&);
made holdfast_quorum_5_one_dead(const arena&);
made holdfast_quorum_pairs(const arena&); // on five servers; the sample includes the release
// on five servers, with the locks of redsync and node-redlock
made holdfast_quorum_token_pairs(const arena&);
made bare_nodes_3(const arena&);
made bare_nodes_5(const arena&);

// Redisson, only over TCP. Its first contender in a run starts the JVM. They throw `not_here`.
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

// One lock on ZooKeeper that each thread wants through its own client. The other side is Curator's
// lock, which throws `not_here`.
made holdfast_queue(const arena&);
made curator_threads(const arena&);
made curator_queue(const arena&);

// Locks of other libraries on five servers, only over TCP. They throw `not_here`.
made redsync_quorum(const arena&);
made node_redlock_quorum(const arena&);

} // namespace holdfast::bench
