// SPDX-License-Identifier: Apache-2.0
// Where contenders meet, and who they are.
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

/// One contest's place. Its parts outlive the contenders.
struct arena {
    const server& home;
    transport way;     ///< of both sides
    std::string query; ///< our client's settings, such as "?poll_bound=1s"
    int at_once;       ///< threads, coroutines or requests in flight
    redisson& java;
    more_servers& more;          ///< beside `home`
    std::optional<site> group{}; ///< in place of `home`

    /// Who a client is it tells the server every half minute; the books count each script.
    std::string url() const { return group ? with_settings(group->url) : url_of(home); }
    std::string url_of(const server& which) const { return with_settings(which.url(way)); }
    std::string with_settings(const std::string& address) const {
        return address + query + (query.empty() ? '?' : '&') + "announce=no";
    }

    /// The first primary, of a group.
    connection connect() const {
        return group ? connect_to(group->ports.front()) : home.connect(way);
    }
};

/// Of all Redis servers that are there.
inline accounts books_of(const arena& where) {
    return where.group ? accounts{connect_to_all(*where.group)}
                       : accounts{where.home.connect(transport::unix_socket)};
}

/// Of whatever servers are there.
inline std::unique_ptr<ledger> ledger_of(const arena& where) {
    if (where.group && where.group->books)
        return where.group->books();
    return std::make_unique<accounts>(books_of(where));
}

/// The same names on both sides, one for each thread, coroutine or request in flight.
inline std::string name_of_lock(int i) {
    return "bench:" + std::to_string(i);
}

using made = std::unique_ptr<contender>;

// A free lock for each: through one client, and against it a bare blocking socket each.
made holdfast_threads(const arena&);
made holdfast_deferring(const arena&); // whose releases are not waited for
made bare_sockets(const arena&);
made bare_sockets_with_set_nx(const arena&);

// On one thread, and against it one connection with as many requests in flight.
made holdfast_coroutines(const arena&);
made raw_pipeline(const arena&);

// The same at a primary, where so many replicas have to confirm each grant: bare, by one WAIT for
// all that is written at once. And how much longer a grant takes that one replica confirms.
made bare_sockets_confirmed_by_one(const arena&);
made bare_sockets_confirmed_by_two(const arena&);
made raw_pipeline_confirmed_by_one(const arena&);
made raw_pipeline_confirmed_by_two(const arena&);
made holdfast_confirmation(const arena&);
made bare_confirmation(const arena&);

// Bare, on one connection to each primary of a cluster; and ours at a cluster of one node that does
// not know it is one, and at a cluster where releases are told to one shard.
made raw_slots(const arena&);
made holdfast_coroutines_at_one_node(const arena&);
made holdfast_coroutines_telling_shards(const arena&);

// One lock for all threads of the process, and against it a fair lock that knows no server; and a
// lock entered again by its only holder.
made holdfast_gate(const arena&);
made holdfast_fenced_gate(const arena&); // whose holds have tokens
made bare_hand_off(const arena&);
made holdfast_reentry(const arena&);

// One lock that all threads of the process share, and against it a bare blocking socket each; and
// one that all threads but one share, which that one writes.
made holdfast_readers(const arena&);
made bare_readers(const arena&);
made holdfast_readers_and_writer(const arena&);

// One lock, and a process for each who wants it. Redisson's throws `not_here`.
made holdfast_fair(const arena&);
made redisson_fair(const arena&);

// From a release in one client to the entry of who waits in another.
made holdfast_wake_up(const arena&);
made holdfast_late_wake_up(const arena&);      // who has waited for a while
made holdfast_wake_up_of_reader(const arena&); // by a writer
made holdfast_wake_up_of_writer(const arena&); // by a reader

// A semaphore that all threads of the process draw from: with fewer permits than there are
// threads, and with enough.
made holdfast_semaphore(const arena&);
made holdfast_free_semaphore(const arena&);

// The same with permits that are leased; and a rate limiter, of which so many permits can be drawn
// in 100 ms.
inline constexpr int draws_of_a_rate = 200;
made holdfast_permits(const arena&);
made holdfast_rate(const arena&);

// Likewise from a release of a permit, or the opening of a latch.
made holdfast_wake_up_by_permit(const arena&);
made holdfast_wake_up_by_latch(const arena&);

// From the shell: a process for each lock that is taken. They throw `not_here`.
made holdfast_commands(const arena&);
made flock_commands(const arena&);

// Three locks that are taken as one, by one client; and against it one script and its answer.
made holdfast_multi(const arena&);
made holdfast_multi_pairs(const arena&);
made bare_round_trips(const arena&);

// One lock on three or five servers, and against it a bare socket to each, until a majority has
// answered; and five of which one is dead.
made holdfast_quorum_3(const arena&);
made holdfast_quorum_5(const arena&);
made holdfast_quorum_5_one_dead(const arena&);
made holdfast_quorum_pairs(const arena&);       // of five, each counted with its release
made holdfast_quorum_token_pairs(const arena&); // likewise, with redsync's and node-redlock's locks
made bare_nodes_3(const arena&);
made bare_nodes_5(const arena&);

// Redisson, over TCP alone; the first one of a run starts the JVM. They throw `not_here`.
made redisson_threads(const arena&);
made redisson_async(const arena&);
made redisson_red_lock(const arena&); // of five servers
made redisson_gate(const arena&);
made redisson_reentry(const arena&);
made redisson_readers_and_writer(const arena&);
made redisson_semaphore(const arena&);
made redisson_free_semaphore(const arena&);
made redisson_permits(const arena&);
made redisson_rate(const arena&);
made redisson_confirmed(const arena&); ///< by both replicas, for each grant and each release

// At ZooKeeper: one lock, which each thread wants through a client of its own; and Curator's, which
// throw `not_here`.
made holdfast_queue(const arena&);
made curator_threads(const arena&);
made curator_queue(const arena&);

// Other programs' locks on five servers, over TCP alone. They throw `not_here`.
made redsync_quorum(const arena&);
made node_redlock_quorum(const arena&);

} // namespace holdfast::bench
