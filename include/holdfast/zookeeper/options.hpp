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

namespace holdfast::zookeeper {

/// Format of the names of lock nodes. holdfast respects nodes of both formats. Curator does not see
/// kazoo's nodes, and kazoo does not see Curator's (docs/protocol/zookeeper.md).
enum class node_form : std::uint8_t {
    curator, ///< `_c_<uuid>-lock-<n>`: Curator's InterProcessMutex and read-write lock
    kazoo,   ///< `<uuid>__lock__<n>`: kazoo's Lock, ReadLock, WriteLock
};

/// Which clients may read, create and delete the nodes below `root`. Use the same value in all
/// programs.
enum class node_acl : std::uint8_t {
    open,    ///< everybody; the default of Curator and kazoo
    creator, ///< only clients with the same login: digest, or the TLS certificate
};

/// How to reach a ZooKeeper server or ensemble. URL form (docs/url.md):
///
///     zk://[user[:password]@]host[:port][,host[:port]...][/chroot]     (also zookeeper://)
///     zk://...?tls=yes                     over TLS; parameters: tls.hpp
///
/// Every length of time is in whole milliseconds, within the bounds that its comment gives.
/// `make_store` throws for a value outside the bounds; the text names the field.
struct options {
    /// The servers of one ensemble: 1 to 64 servers. The default port is 2181. The client chooses a
    /// server at random.
    std::vector<server_address> servers{{"127.0.0.1", 0}};
    /// Path that already exists at the servers; all other paths are relative to it. If empty, paths
    /// begin at the root of the ensemble.
    std::string chroot{};

    /// Path below which the client creates its lock nodes. The client creates the path when it is
    /// needed. If the ensemble was restored from a backup or was emptied, use a new path; otherwise
    /// new fencing tokens are smaller than old tokens.
    std::string root = "/holdfast";
    /// If true, the name of a lock is its path, as in Curator, and `root` is not used.
    bool names_are_paths = false;
    node_form form = node_form::curator;
    node_acl acl = node_acl::open;

    /// TLS settings. If this option is empty, the client does not use TLS, so anyone on the network
    /// path can read and change the traffic.
    std::optional<tls_options> tls{};
    std::string user{}; ///< user for the digest scheme; empty: no login
    secret password{};
    /// Provider of the user and the password. The client uses the provider if the fields `user` and
    /// `password` are empty.
    credential_provider credentials{};

    /// Session timeout: how long a session, and with it each hold, survives a client that has died.
    /// The ensemble limits the timeout to its own bounds, usually 4 to 40 s. With zero, the client
    /// requests its `lease_time`. Allowed: 0 ms, or 100 ms to 1 day.
    duration session_timeout{};

    /// Timeout for the lookup of the address, the connection and the opening of the session
    /// together. Allowed: 1 ms to 1 day.
    duration connect_timeout = std::chrono::seconds{2};
    /// Timeout of one request. The time counts from when the request enters the queue until the
    /// reply. Allowed: 1 ms to 1 day.
    duration command_timeout = std::chrono::seconds{3};
    /// Pause between two attempts to connect. The pause grows from `backoff_min` to `backoff_max`,
    /// with jitter. Each of the two values is 1 ms to 1 day; `backoff_min` must not be longer than
    /// `backoff_max`.
    duration backoff_min{20};
    duration backoff_max{1000};

    /// Maximum number of requests that are queued or in flight.
    std::size_t requests_max = 100'000;
    /// Maximum size of a reply in bytes. A longer reply fails with `store_errc::protocol`.
    std::size_t reply_bytes_max = 4 * 1024 * 1024;
};

/// Creates a store on the ensemble that the options describe. Throws `errc::invalid_argument` at
/// once for a wrong option; the error text names the field. The store connects when it gets its
/// first request. Format of the nodes: docs/protocol/zookeeper.md.
HOLDFAST_EXPORT store_factory make_store(options);

} // namespace holdfast::zookeeper
