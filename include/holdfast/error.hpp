// SPDX-License-Identifier: Apache-2.0
// Error codes. The comment of each code says what the caller knows after the error.
//
// A busy lock and an expired timeout are results, not errors. A cancelled operation completes with
// `boost::asio::error::operation_aborted`.
#pragma once

#include <holdfast/asio.hpp>
#include <holdfast/export.hpp>

#include <boost/system/system_error.hpp>

namespace holdfast {

/// Kinds of errors of this library. Compare an error code with these values, for example `ec ==
/// errc::unreachable`. Each detailed error of a store (`store_errc`) is equal to exactly one of
/// these values.
enum class errc {
    /// The store could not be reached, so the store has not executed the request.
    unreachable = 1,
    /// The request was sent, but no reply came, so the store may have executed the request. If the
    /// request was to acquire a lock, the client releases the lock in the background. The lock
    /// becomes free at the latest when its lease expires.
    outcome_unknown,
    /// The store refused the request, and has changed nothing. Possible reasons: a missing
    /// permission, a value of another type under the name, no memory, or a server that the client
    /// does not trust. The exception and the observer's event contain the server's own error text.
    refused,
    /// The lease expired before the release. Another client may have held the lock since then.
    lease_lost,
    /// The calling thread, or the lease that was passed to the call, does not hold the lock. The
    /// call did nothing.
    not_owner,
    /// The calling thread already holds the lock, and the lock is not recursive. The call did
    /// nothing.
    already_held,
    /// A name, a length of time or an address is not allowed. The client has sent nothing.
    invalid_argument,
    /// The client has reached one of its limits (queued requests, waiting calls), and has sent
    /// nothing.
    overloaded,
    /// The call would wait for ever, so it failed and acquired nothing. There are two causes.
    /// Either the calling thread would wait for work that only this thread can do, or two readers
    /// want to upgrade, and each would wait for the other reader's release.
    would_deadlock,
    /// The server's clock jumped twice while the lock was being acquired. The caller does not hold
    /// the lock.
    clock_unstable,
    /// The client is closed or closing, and has sent nothing. Locks that the client held become
    /// free when their leases expire.
    closed,
    /// The object was created before fork() and is used in the child process. The call did nothing.
    /// Create the object again in the child process.
    forked,
};

/// Detailed errors of a server. The comment of each code ends with the `errc` that it is equal to.
enum class store_errc {
    loading = 1,       ///< LOADING: the server still reads its data; unreachable
    busy_script,       ///< BUSY: a script runs too long; unreachable
    read_only,         ///< READONLY: the server takes no writes, usually a replica; unreachable
    master_down,       ///< MASTERDOWN: a replica without its primary; unreachable
    cluster_down,      ///< CLUSTERDOWN: the slot is not served; unreachable
    try_again,         ///< TRYAGAIN, MOVED, ASK, or a row stays locked; unreachable
    too_many_clients,  ///< the server's limit of clients is reached; unreachable
    no_replicas,       ///< NOREPLICAS: too few replicas for a write; unreachable
    disk_trouble,      ///< MISCONF: the server cannot save and takes no writes; unreachable
    out_of_memory,     ///< OOM, or a quota is reached; refused
    no_permission,     ///< NOPERM and similar: a permission is missing; refused
    not_authenticated, ///< NOAUTH, WRONGPASS, or a refused client certificate; refused
    untrusted,         ///< TLS: the server's certificate is not accepted; refused
    wrong_type,        ///< WRONGTYPE: the name has something that is not a lock; refused
    tls_failed,        ///< TLS: the handshake failed; unreachable
    script_killed,     ///< an operator killed the script; outcome_unknown
    protocol,          ///< the reply violates the protocol; outcome_unknown
    other,             ///< any other error of the server; refused
    not_replicated,    ///< executed, but too few replicas confirmed; outcome_unknown
    wrong_address,     ///< a cluster or a Sentinel runs at this address; refused
    not_set_up,        ///< tables or nodes that locks need are missing; refused
    unfit,             ///< with the server's settings, a lock could have two holders; refused
    worn_out, ///< the store has used up its sequence numbers for the name (ZooKeeper); refused
};

HOLDFAST_EXPORT error_code make_error_code(errc) noexcept;
HOLDFAST_EXPORT error_condition make_error_condition(errc) noexcept;
HOLDFAST_EXPORT error_code make_error_code(store_errc) noexcept;

} // namespace holdfast

template <>
struct boost::system::is_error_condition_enum<holdfast::errc> : std::true_type {};
template <>
struct boost::system::is_error_code_enum<holdfast::store_errc> : std::true_type {};
