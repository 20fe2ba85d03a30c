// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/export.hpp>
#include <holdfast/lease.hpp>

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// A statement that nails a lease to a transaction of yours in the same database. Run it first:
///
///     START TRANSACTION;  <nail>;  UPDATE stock …;  COMMIT;
///
/// One row (matched or changed, they are the same here): until this transaction ends nobody else is
/// granted the lock, even if the lease runs out meanwhile. So what you write there is written while
/// you hold the lock, or not at all. No row: the lease is over; roll back.
///
/// - Commit before you unlock: a release waits behind the nail, and fails after some seconds.
/// - Keep the transaction shorter than the lease: renewals pass a nailed row by.
/// - After an error, 1213 (deadlock) above all, the server may have ended your transaction, and the
///   nail with it: roll back, and begin again with a nail.
/// - Outside a transaction it holds nothing. MariaDB then answers "no row"; MySQL cannot tell.
/// - From now on the lease is released at the store, and not handed on within this client.
///
/// `table`: as in the options; with the schema before it, "shop.holdfast_lock", if your connection
/// uses another one. Only holds that exclude all others are nailed (a mutex', a writer's). Throws
/// `errc::invalid_argument` for others, and `errc::not_owner` for a lease that holds nothing.
HOLDFAST_EXPORT std::string nail(const lease&, std::string_view table = "holdfast_lock");

} // namespace holdfast::mysql
