// SPDX-License-Identifier: Apache-2.0
// What can go wrong, and what the caller knows afterwards.
//
// Busy and timed out are answers, not errors. A cancelled operation completes with
// `boost::asio::error::operation_aborted`.
#pragma once

#include <holdfast/asio.hpp>
#include <holdfast/export.hpp>

#include <boost/system/system_error.hpp>

namespace holdfast {

/// What happened, in terms of the lock. Compare with `ec == errc::unreachable`: whatever the store
/// answered in detail (`store_errc`) is equal to exactly one of these.
enum class errc {
    /// The store could not be asked. Nothing was done there.
    unreachable = 1,
    /// The request was sent and its answer never came. It may have been carried out; what it may
    /// have taken is released in the background, at the latest by the end of its lease.
    outcome_unknown,
    /// The store answered and will not do it: rights, a foreign key under the name, no memory. Or
    /// what answers there is not trusted to be the store. Nothing was done. The server's own words
    /// are in the exception and the observer's event.
    refused,
    /// The lease ended before it was released: somebody else may have held the lock meanwhile.
    lease_lost,
    /// This thread (or this lease) does not hold the lock. Nothing was done.
    not_owner,
    /// This thread holds the lock already, and the lock is not recursive. Nothing was done.
    already_held,
    /// A name, a length of time or an address that is not allowed. Nothing was sent.
    invalid_argument,
    /// A bound of this client (waiting requests, open holds) is reached. Nothing was sent.
    overloaded,
    /// The call would wait on the very thread that has to finish it. Nothing was sent.
    would_deadlock,
    /// The server's clock jumped twice while the lock was asked for. Nothing is held.
    clock_unstable,
    /// The client is closed or closing. Nothing was sent; what was held ends with its lease.
    closed,
    /// The object was made before fork(): use one that this process made.
    forked,
};

/// What a server answered. Each is equal to one `errc`, given behind it.
enum class store_errc {
    loading = 1,       ///< LOADING: reading its data; unreachable
    busy_script,       ///< BUSY: a script runs too long; unreachable
    read_only,         ///< READONLY: a replica; unreachable
    master_down,       ///< MASTERDOWN: a replica cut off; unreachable
    cluster_down,      ///< CLUSTERDOWN: the slot is not served; unreachable
    try_again,         ///< TRYAGAIN, MOVED, ASK: the slot is elsewhere; unreachable
    too_many_clients,  ///< max number of clients reached; unreachable
    no_replicas,       ///< NOREPLICAS: too few replicas to write; unreachable
    disk_trouble,      ///< MISCONF: cannot save its data and takes no writes; unreachable
    out_of_memory,     ///< OOM; refused
    no_permission,     ///< NOPERM, or its form inside a script; refused
    not_authenticated, ///< NOAUTH, WRONGPASS, or over TLS: our certificate; refused
    untrusted,         ///< TLS: the server's certificate is not accepted; refused
    wrong_type,        ///< WRONGTYPE: the key holds something that is no lock; refused
    tls_failed,        ///< TLS could not be agreed on; unreachable
    script_killed,     ///< an operator ended the script; outcome_unknown
    protocol,          ///< not an answer of this protocol; outcome_unknown
    other,             ///< any other error of the server; refused
};

HOLDFAST_EXPORT error_code make_error_code(errc) noexcept;
HOLDFAST_EXPORT error_condition make_error_condition(errc) noexcept;
HOLDFAST_EXPORT error_code make_error_code(store_errc) noexcept;

} // namespace holdfast

template <>
struct boost::system::is_error_condition_enum<holdfast::errc> : std::true_type {};
template <>
struct boost::system::is_error_code_enum<holdfast::store_errc> : std::true_type {};
