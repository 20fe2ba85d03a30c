// SPDX-License-Identifier: Apache-2.0
// The errors, and what the caller knows after each.
//
// Busy and timed out are answers, not errors. A cancelled operation completes with
// `boost::asio::error::operation_aborted`.
#pragma once

#include <holdfast/asio.hpp>
#include <holdfast/export.hpp>

#include <boost/system/system_error.hpp>

namespace holdfast {

/// What happened, in terms of the lock. Compare with `ec == errc::unreachable`: each detailed
/// answer of a store (`store_errc`) is equal to exactly one of these.
enum class errc {
    /// The store could not be asked. Nothing was done there.
    unreachable = 1,
    /// The request was sent, but no answer came. It may have been carried out. A lock that it may
    /// have taken is released in the background, and ends with its lease at the latest.
    outcome_unknown,
    /// The store refused the request: rights, a foreign key under the name, no memory. Or the
    /// client does not trust the server. Nothing was done. The server's own words are in the
    /// exception and in the observer's event.
    refused,
    /// The lease ended before it was released. Somebody else may have held the lock meanwhile.
    lease_lost,
    /// This thread (or this lease) does not hold the lock. Nothing was done.
    not_owner,
    /// This thread holds the lock already, and the lock is not recursive. Nothing was done.
    already_held,
    /// A name, a length of time or an address is not allowed. Nothing was sent.
    invalid_argument,
    /// This client has reached a limit (waiting requests, waiting calls). Nothing was sent.
    overloaded,
    /// The call would wait for something that waits for it: for its own thread, which has to finish
    /// it, or for another reader that upgrades, too. Nothing was taken.
    would_deadlock,
    /// The server's clock jumped twice while the lock was asked for. Nothing is held.
    clock_unstable,
    /// The client is closed or closing. Nothing was sent; what was held ends with its lease.
    closed,
    /// The object was made before fork(). Nothing was done; use one that this process made.
    forked,
};

/// The answers of a server. Each is equal to one `errc`, which its line ends with.
enum class store_errc {
    loading = 1,       ///< LOADING: still reading its data; unreachable
    busy_script,       ///< BUSY: a script runs too long; unreachable
    read_only,         ///< READONLY: it takes no writes, a replica as a rule; unreachable
    master_down,       ///< MASTERDOWN: a replica without its primary; unreachable
    cluster_down,      ///< CLUSTERDOWN: the slot is not served; unreachable
    try_again,         ///< TRYAGAIN, MOVED, ASK, a row that stays locked; unreachable
    too_many_clients,  ///< max number of clients reached; unreachable
    no_replicas,       ///< NOREPLICAS: too few replicas to write; unreachable
    disk_trouble,      ///< MISCONF: cannot save its data and takes no writes; unreachable
    out_of_memory,     ///< OOM, or a quota; refused
    no_permission,     ///< NOPERM and its like: a right is missing; refused
    not_authenticated, ///< NOAUTH, WRONGPASS, or TLS: the client's certificate; refused
    untrusted,         ///< TLS: the server's certificate is not accepted; refused
    wrong_type,        ///< WRONGTYPE: what has that name is not a lock; refused
    tls_failed,        ///< TLS: the handshake failed; unreachable
    script_killed,     ///< an operator ended the script; outcome_unknown
    protocol,          ///< the answer does not follow the protocol; outcome_unknown
    other,             ///< any other error of the server; refused
    not_replicated,    ///< carried out, but too few replicas have confirmed it; outcome_unknown
    wrong_address,     ///< a cluster or a Sentinel is where one server was expected; refused
    not_set_up,        ///< the tables or nodes that locks need are not there; refused
    unfit,             ///< the server is set so that locks could be granted twice there; refused
    worn_out,          ///< the numbers that the store gives under that name have ended; refused
};

HOLDFAST_EXPORT error_code make_error_code(errc) noexcept;
HOLDFAST_EXPORT error_condition make_error_condition(errc) noexcept;
HOLDFAST_EXPORT error_code make_error_code(store_errc) noexcept;

} // namespace holdfast

template <>
struct boost::system::is_error_condition_enum<holdfast::errc> : std::true_type {};
template <>
struct boost::system::is_error_code_enum<holdfast::store_errc> : std::true_type {};
