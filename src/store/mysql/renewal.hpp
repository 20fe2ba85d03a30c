// SPDX-License-Identifier: Apache-2.0
// Renewal of holds, with its SQL statements. A renewal consists of two writes. The first write
// locks the rows that no other transaction has locked. The second write extends these rows. So if
// another transaction keeps a row locked, the other rows are not delayed.
#pragma once

#include "store/mysql/lock_requests.hpp"
#include "store/mysql/request_context.hpp"
#include "store/mysql/waiting.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <vector>

namespace holdfast::mysql {

/// Implements `lock_store::renew`. Splits the holds into batches of at most about 500 rows, and
/// renews all batches at the same time.
asio::awaitable<void> renew_holds(request_context&, wakeup_locks&, hold_list,
                                  const renewal_options&, renewal_sink&);

/// One row of a hold. A hold of several permits has several rows.
struct held_row {
    std::string name, owner;
    bool operator<(const held_row& other) const {
        return name != other.name ? name < other.name : owner < other.owner;
    }
};

std::vector<held_row> rows_of(const hold&);

/// Returns a SELECT that locks this client's rows, but skips rows that another transaction has
/// locked. It returns the name and the owner of each row.
std::string rows_locked(const tables&, kept_in, const std::vector<held_row>&);

/// Returns an UPDATE that extends the rows. The UPDATE checks the owners again, because the server
/// may have ended the transaction that locked the rows. The number of matched rows is the number of
/// extended rows.
std::string rows_prolonged(const tables&, kept_in, const std::vector<held_row>&,
                           duration lease_time);

/// Returns a SELECT of this client's rows, locked or not: their names, owners and remaining
/// microseconds.
std::string rows_seen(const tables&, kept_in, const std::vector<held_row>&);

} // namespace holdfast::mysql
