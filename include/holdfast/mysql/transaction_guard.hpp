// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/export.hpp>
#include <holdfast/lease.hpp>

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// Returns an SQL statement (a *guard*) that ties a transaction of yours, in the same database, to
/// a lease. Run the guard as the first statement of the transaction:
///
///     START TRANSACTION;  <guard>;  UPDATE stock …;  COMMIT;
///
/// *If the statement matches one row*, nobody else is granted the lock until this transaction ends,
/// even if the lease expires in the meantime. For this statement, the number of matched rows equals
/// the number of changed rows, so you can check either. Your writes in the transaction are
/// committed while you hold the lock, or not at all.
///
/// *If the statement matches no row*, the lease has ended: roll back.
///
/// - Commit before you unlock: the release waits for the end of the transaction, and fails after
///   some seconds.
/// - Keep the transaction shorter than the lease, because renewals skip the row while it is locked.
/// - After an error, especially 1213 (deadlock), the server may have ended your transaction and
///   removed the guard: roll back, and start again with a guard.
/// - Outside a transaction the statement protects nothing. MariaDB then reports "no row"; MySQL
///   cannot detect it.
/// - After this call, the client does not hand this hold over to another of its callers: the
///   release goes to the store.
///
/// `table` is the table name from the options. If your connection uses another schema, put the
/// table's schema before the name: "shop.holdfast_lock". The lease must be exclusive (a mutex, a
/// writer). Throws `errc::invalid_argument` for other leases, and `errc::not_owner` for a lease
/// that holds nothing.
HOLDFAST_EXPORT std::string transaction_guard(const lease&,
                                              std::string_view table = "holdfast_lock");

} // namespace holdfast::mysql
