// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/address.hpp>
#include <holdfast/credentials.hpp>
#include <holdfast/export.hpp>
#include <holdfast/store.hpp>
#include <holdfast/tls.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

using holdfast::server_address;
using holdfast::tls_options;

/// The oldest Redisson that uses the same semaphores with leases and the same rate limiters, or one
/// of its release: older ones write their keys in another form. Locks are the same in all of them.
enum class redisson_form : std::uint8_t {
    v3_13, ///< up to 3.15
    v3_16, ///< 3.16
    v3_17, ///< from 3.17 on
};

/// The Sentinels that watch over a primary and its replicas, and appoint another primary when it
/// dies.
struct sentinel_options {
    std::string service{};                   ///< the name that they have given to the primary
    std::vector<server_address> addresses{}; ///< 1 to 64; the usual port is 26379
    std::string user{};                      ///< if `user` and `password` are both empty, those
    secret password{};                       ///< of the servers are tried
    std::optional<tls_options> tls{};        ///< of the connections to the Sentinels
    bool own_login = false; ///< `user` and `password` count even if both are empty: no login
};

/// A cluster, which shares out the names of locks among several primaries.
struct cluster_options {
    std::vector<server_address> addresses{}; ///< some of its nodes, 1 to 64; the usual port is 6379
};

/// How releases are told, and heard of. All programs must do it in the same way, or in both.
enum class pubsub_form : std::uint8_t {
    automatic, ///< sharded in a cluster whose servers know that (7.0 and later); else plain
    plain,     ///< PUBLISH: Redisson before 3.22, and all of them outside of clusters
    sharded,   ///< SPUBLISH: Redisson from 3.22 on, in a cluster
    both,      ///< both are told and heard: for a cluster that older and newer JVMs share
};

/// How to reach Redis or Valkey: one server, unless `sentinel` or `cluster` is given. URL forms
/// (docs/url.md):
///
///     redis://[user[:password]@]host[:port][/database]
///     rediss://...                         the same over TLS; parameters: tls.hpp
///     unix:///path/to/socket[?database=N]  (also redis+unix://)
///     redis+sentinel://[user[:password]@]host[:port][,host[:port]...]/service[/database]
///     redis+cluster://[user[:password]@]host[:port][,host[:port]...]
///     rediss+sentinel://..., rediss+cluster://...
struct options {
    std::string host = "127.0.0.1"; ///< name or address; ignored if `unix_socket` is given
    std::uint16_t port = 6379;
    std::string unix_socket{};
    std::optional<sentinel_options> sentinel{}; ///< then `host`, `port` are not used
    std::optional<cluster_options> cluster{};   ///< likewise; and `database` must be 0
    std::optional<tls_options> tls{}; ///< no TLS if empty: all can be read and changed on the way

    std::string user{}; ///< empty: the server's default user
    secret password{};
    credential_provider credentials{}; ///< its user or password is used where the field is empty

    std::uint32_t database = 0; ///< of the locks; Redis' channels are shared by all databases

    // Whole milliseconds. `make_store` refuses a value outside the bounds, and names the field.

    /// The limit for looking up the address, connecting and logging in. 1 ms to 1 day.
    duration connect_timeout = std::chrono::seconds{2};
    /// The limit for one request, from entering the queue to its answer. 1 ms to 1 day.
    duration command_timeout = std::chrono::seconds{3};
    /// The pause between two attempts to connect: it is jittered, and grows from `backoff_min` up
    /// to `backoff_max`. Each 1 ms to 1 day, and the first not longer than the second.
    duration backoff_min{50};
    duration backoff_max{2000};
    /// How long a subscription is kept after its last waiter. 0 ms to 1 day.
    duration subscription_linger = std::chrono::seconds{5};

    /// How long a grant or a renewal waits for the replicas that it requires
    /// (`options::required_replicas`). 1 ms to a third of `command_timeout`; a second means that
    /// third where it is less.
    duration replica_timeout = std::chrono::seconds{1};

    /// How often the name of the server is looked up while it is connected: one that has another
    /// address by then is left. Zero: only for each new connection. 0 ms to 1 day.
    duration address_check = std::chrono::seconds{5};

    /// How often a cluster is asked who has which names, while there are holds or waiters; it is
    /// asked at once when a server says that it has changed. 100 ms to 1 day.
    duration topology_check = std::chrono::seconds{5};

    /// How releases are told. Only a cluster has a choice.
    pubsub_form pubsub = pubsub_form::automatic;

    /// The longest `fairLockWaitTimeout`, or wait time of a call, of the JVMs that wait for the
    /// same fair locks: so long one of them is waited for that has died in their queue. With less
    /// than they have, waiters of ours behind them may be overtaken, and a JVM that lives loses its
    /// place when it has been the first for so long. 1 ms to 1 day.
    duration fair_wait = std::chrono::minutes{5};

    /// In whose form the permits of a `leased_semaphore` and the draws of a `rate_limiter` are
    /// written. Give all programs the same: permits of another form are `refused`; draws of another
    /// form are counted here, but JVMs count ours wrongly.
    redisson_form redisson = redisson_form::v3_17;

    /// How many connections there may be beside the shared one. Each is for one blocking call at a
    /// time: the calling thread itself writes and reads there. They are made when they are needed,
    /// and closed after ten seconds without use. More calls at a time use the shared connection.
    /// Zero: all calls use it. At most 1000.
    std::size_t lanes_max = 16;

    /// How long such a thread polls for its answer before it sleeps. Polling halves the time of a
    /// round trip on one machine, and keeps a core busy meanwhile. Threads poll only if there are
    /// cores to spare and answers usually come within that time. Zero: never. 0 us to 10 ms.
    std::chrono::microseconds polling{100};

    std::size_t requests_max = 100'000;             ///< queued or in flight, per connection
    std::size_t reply_bytes_max = 16 * 1024 * 1024; ///< a longer answer is `store_errc::protocol`
};

/// A store on that server. Throws `errc::invalid_argument` at once; the text names the wrong field.
/// The store connects when it gets its first request. Wire format: docs/protocol/mutex.md.
HOLDFAST_EXPORT store_factory make_store(options);

} // namespace holdfast::redis
