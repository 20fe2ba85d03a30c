// SPDX-License-Identifier: Apache-2.0
// Renewal of holds, with its SQL statements. A renewal consists of two writes. The first begins a
// transaction and locks the rows that no other transaction has locked. The second extends the rows
// that were locked. So a row that another transaction keeps locked delays no other row.
#pragma once

#include "store/mysql/lock_requests.hpp"
#include "store/mysql/request_context.hpp"
#include "store/mysql/waiting.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <vector>

namespace holdfast::mysql {

/// Implements `lock_store::renew`. Splits the holds into batches of about 500 rows, and renews all
/// batches at the same time.
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
/// locked. It yields name and owner of each row.
std::string rows_locked(const tables&, kept_in, const std::vector<held_row>&);

/// Returns an UPDATE that extends the rows, and matches exactly the rows that it extends. It checks
/// the owners again, because the server may have ended the transaction that locked the rows.
std::string rows_prolonged(const tables&, kept_in, const std::vector<held_row>&,
                           duration lease_time);

/// Returns a SELECT of this client's rows, locked or not. It yields name, owner and remaining
/// microseconds.
std::string rows_seen(const tables&, kept_in, const std::vector<held_row>&);

} // namespace holdfast::mysql
