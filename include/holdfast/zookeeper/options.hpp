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

/// Whose names the nodes of locks have. Either form is counted, whoever wrote it; but Curator does
/// not see kazoo's nodes, nor kazoo Curator's (docs/protocol/zookeeper.md).
enum class node_form : std::uint8_t {
    curator, ///< `_c_<uuid>-lock-<n>`: Curator's InterProcessMutex and its read-write lock
    kazoo,   ///< `<uuid>__lock__<n>`: kazoo's Lock, ReadLock, WriteLock
};

/// Who may read, delete and create nodes below `root`. All programs must give the same.
enum class node_acl : std::uint8_t {
    open,    ///< everybody, as Curator and kazoo do unless told otherwise
    creator, ///< only whoever has logged in as this client does: digest, or its TLS certificate
};

/// How to reach a ZooKeeper server or ensemble. URL form (docs/url.md):
///
///     zk://[user[:password]@]host[:port][,host[:port]...][/chroot]     (also zookeeper://)
///     zk://...?tls=yes                     over TLS; parameters: tls.hpp
///
/// Every length of time is in whole milliseconds. `make_store` refuses a value outside the bounds
/// beside it, and names the field.
struct options {
    /// The servers of one ensemble, 1 to 64. The usual port is 2181. One is chosen by chance.
    std::vector<server_address> servers{{"127.0.0.1", 0}};
    std::string chroot{}; ///< a path that exists; every other path begins there. Empty: none

    /// Nodes of locks are below this path, which is made when it is needed. A restored or emptied
    /// ensemble needs another one, or fencing tokens become smaller.
    std::string root = "/holdfast";
    /// True: the name of a lock is its path, as Curator has it, and `root` is not used.
    bool names_are_paths = false;
    node_form form = node_form::curator;
    node_acl acl = node_acl::open;

    std::optional<tls_options> tls{}; ///< no TLS if empty: all can be read and changed on the way
    std::string user{};               ///< of the digest scheme; empty: nobody logs in
    secret password{};
    credential_provider credentials{}; ///< its user or password is used where the field is empty

    /// How long a session, and with it each hold, outlives a client that has died. The ensemble
    /// changes it into its own bounds, which are usually 4 to 40 s. Zero: the client's
    /// `lease_time`. 0 ms, or 100 ms to 1 day.
    duration session_timeout{};

    /// The limit for looking up an address, connecting and opening the session. 1 ms to 1 day.
    duration connect_timeout = std::chrono::seconds{2};
    /// The limit for one request, from entering the queue to its answer. 1 ms to 1 day.
    duration command_timeout = std::chrono::seconds{3};
    /// The pause between two attempts to connect: it is jittered, and grows from `backoff_min` up
    /// to `backoff_max`. Each 1 ms to 1 day, and the first not longer than the second.
    duration backoff_min{20};
    duration backoff_max{1000};

    std::size_t requests_max = 100'000;            ///< queued or in flight
    std::size_t reply_bytes_max = 4 * 1024 * 1024; ///< a longer answer is `store_errc::protocol`
};

/// A store on that ensemble. Throws `errc::invalid_argument` at once; the text names the wrong
/// field. The store connects when it gets its first request. Nodes: docs/protocol/zookeeper.md.
HOLDFAST_EXPORT store_factory make_store(options);

} // namespace holdfast::zookeeper
