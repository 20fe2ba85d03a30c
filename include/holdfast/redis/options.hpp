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

/// Format of the keys of leased semaphores and rate limiters. Older releases of Redisson use older
/// formats. Each value is named after the oldest release that uses its format. The format of locks
/// is the same in all releases.
enum class redisson_form : std::uint8_t {
    v3_13, ///< up to 3.15
    v3_16, ///< 3.16
    v3_17, ///< 3.17 and later
};

/// Sentinels that monitor a primary and its replicas, and promote a replica when the primary dies.
struct sentinel_options {
    std::string service{};                   ///< the Sentinels' name for the primary
    std::vector<server_address> addresses{}; ///< 1 to 64; the default port is 26379
    /// User and password for the Sentinels. If both fields are empty, the client sends the
    /// Sentinels the login of the Redis servers.
    std::string user{};
    secret password{};
    std::optional<tls_options> tls{}; ///< TLS settings for the connections to the Sentinels
    /// If true, the client never sends the user and password of the Redis servers to the Sentinels.
    /// If `user` and `password` are both empty, too, the client does not log in to the Sentinels.
    bool own_login = false;
};

/// Cluster that distributes lock names over several primaries.
struct cluster_options {
    /// Some nodes of the cluster: 1 to 64 nodes. The default port is 6379.
    std::vector<server_address> addresses{};
};

/// Forms of the messages that report releases to waiters. All programs must use the same form, or
/// `both`.
enum class pubsub_form : std::uint8_t {
    /// Same as `sharded` in a cluster whose servers support sharded channels (7.0 and later).
    /// Otherwise the same as `plain`.
    automatic,
    plain,   ///< PUBLISH: Redisson before 3.22, and every Redisson without a cluster
    sharded, ///< SPUBLISH: Redisson from 3.22 on, in a cluster
    both,    ///< publishes and receives both: for a cluster with older and newer JVMs
};

/// How to reach Redis or Valkey: one server, unless `sentinel` or `cluster` is set. URL forms
/// (docs/url.md):
///
///     redis://[user[:password]@]host[:port][/database]
///     rediss://...                         the same over TLS; parameters: tls.hpp
///     unix:///path/to/socket[?database=N]  (also redis+unix://)
///     redis+sentinel://[user[:password]@]host[:port][,host[:port]...]/service[/database]
///     redis+cluster://[user[:password]@]host[:port][,host[:port]...]
///     rediss+sentinel://..., rediss+cluster://...
struct options {
    std::string host = "127.0.0.1"; ///< name or IP address; not used if `unix_socket` is set
    std::uint16_t port = 6379;
    std::string unix_socket{};
    std::optional<sentinel_options> sentinel{}; ///< if set, `host` and `port` are not used
    /// Settings for a cluster. If this option is set, `host` and `port` are not used, and
    /// `database` must be 0.
    std::optional<cluster_options> cluster{};
    /// TLS settings. If this option is empty, the client does not use TLS, so anyone on the network
    /// path can read and change the traffic.
    std::optional<tls_options> tls{};

    std::string user{}; ///< empty: the server's default user
    secret password{};
    /// Provider of the user and the password. The client uses the provider if the fields `user` and
    /// `password` are empty.
    credential_provider credentials{};

    /// Number of the database that stores the locks. All databases of a server share the
    /// notification channels.
    std::uint32_t database = 0;

    // The following fields are lengths of time. The lengths are in whole milliseconds, except
    // `polling`, which is in microseconds. `make_store` throws for a value outside the bounds; the
    // text names the field.

    /// Timeout for the lookup of the address, the connection and the login together. Allowed: 1 ms
    /// to 1 day.
    duration connect_timeout = std::chrono::seconds{2};
    /// Timeout of one request. The time counts from when the request enters the queue until the
    /// reply. Allowed: 1 ms to 1 day.
    duration command_timeout = std::chrono::seconds{3};
    /// Pause between two attempts to connect. The pause grows from `backoff_min` to `backoff_max`,
    /// with jitter. Each of the two values is 1 ms to 1 day; `backoff_min` must not be longer than
    /// `backoff_max`.
    duration backoff_min{50};
    duration backoff_max{2000};
    /// How long the client keeps a subscription after its last waiter has ended. Allowed: 0 ms to 1
    /// day.
    duration subscription_linger = std::chrono::seconds{5};

    /// Timeout for the confirmation of a grant or a renewal by the required replicas
    /// (`options::required_replicas`). Allowed: 1 ms to a third of `command_timeout`. The default
    /// is one second, or a third of `command_timeout` if that is less.
    duration replica_timeout = std::chrono::seconds{1};

    /// Time between two lookups of the server's name while the client is connected. If the name has
    /// a new address, the client changes to that address. With zero, the client looks up the name
    /// only for each new connection. Allowed: 0 ms to 1 day.
    duration address_check = std::chrono::seconds{5};

    /// Interval at which the client asks for the slot map of a cluster, while it has locks or
    /// waiters. If a server reports a change, the client asks for the map without delay. Allowed:
    /// 100 ms to 1 day.
    duration topology_check = std::chrono::seconds{5};

    /// If true, the release of a `mutex`, a `recursive_mutex` or a `fenced_mutex` also grants the
    /// lock to the client that has waited longest, and notifies only this client. If many clients
    /// wait, this setting makes the lock several times as fast, and each client gets its turn. If
    /// false, a release notifies all waiting clients, and the first request gets the lock. Clients
    /// with different settings, and JVMs, may use the same lock. docs/protocol/mutex.md has the
    /// rules.
    bool direct_hand_off = false;

    /// Form in which releases are published. Outside a cluster, the form is always `plain`.
    pubsub_form pubsub = pubsub_form::automatic;

    /// How long a dead JVM keeps its place in the queue of a fair lock. The waiters after it wait
    /// for this time. Set this option to the JVMs' `fairLockWaitTimeout`, or to the longest wait
    /// time of their calls, whichever is longer. With a smaller value, a live JVM loses its place
    /// after it has been first in the queue for this time, and a holdfast waiter behind it may be
    /// overtaken. Allowed: 1 ms to 1 day.
    duration fair_wait = std::chrono::minutes{5};

    /// Format in which a `leased_semaphore` stores its permits, and a `rate_limiter` stores the
    /// permits that were taken. Use the same format in all programs. If a semaphore has permits in
    /// another format, calls fail with `refused`. If a limiter has records in another format,
    /// holdfast counts these records correctly, but JVMs count the records of holdfast wrongly.
    redisson_form redisson = redisson_form::v3_17;

    /// Maximum number of additional connections for blocking calls. Each connection serves one
    /// blocking call at a time: the calling thread itself writes to it and reads from it. The
    /// client opens these connections on demand, and closes each connection after ten seconds
    /// without use. If all connections are in use, further calls use the shared connection. With
    /// zero, all calls use the shared connection. Allowed: at most 1000.
    std::size_t blocking_connections_max = 16;

    /// How long a blocking thread polls the socket for its reply before it sleeps. Polling halves
    /// the round-trip time on one machine, but keeps a core busy. Threads poll only if some cores
    /// are idle, and if replies usually arrive within this time. With zero, threads never poll.
    /// Allowed: 0 us to 10 ms.
    std::chrono::microseconds polling{100};

    /// Maximum number of requests per connection that are queued or wait for their replies.
    std::size_t requests_max = 100'000;
    /// Maximum size of a reply in bytes. A longer reply fails with `store_errc::protocol`.
    std::size_t reply_bytes_max = 16 * 1024 * 1024;
};

/// Creates a store on the server that the options describe. Throws `errc::invalid_argument` at once
/// for a wrong option; the error text names the field. The store connects when it gets its first
/// request. Wire format: docs/protocol/mutex.md.
HOLDFAST_EXPORT store_factory make_store(options);

} // namespace holdfast::redis
