// SPDX-License-Identifier: Apache-2.0
// A renewal is two writes. The first begins a transaction and locks the rows that no other
// transaction has locked. The second extends these rows. So a row that is locked for long delays no
// other row.
#pragma once

#include "store/mysql/kinds.hpp"

#include <string>
#include <vector>

namespace holdfast::mysql {

/// One row of a hold. A hold of several permits has several rows.
struct held_row {
    std::string name, owner;
    bool operator<(const held_row& other) const {
        return name != other.name ? name < other.name : owner < other.owner;
    }
};

std::vector<held_row> rows_of(const hold&);

/// Returns a SELECT that locks the rows that are ours and that no other transaction has locked. It
/// yields name and owner.
std::string rows_locked(const tables&, kept_in, const std::vector<held_row>&);

/// Returns an UPDATE that matches as many rows as it extends. It checks the owners again, because
/// the server may have ended the transaction.
std::string rows_prolonged(const tables&, kept_in, const std::vector<held_row>&,
                           duration lease_time);

/// Returns a SELECT of name, owner and microseconds left, for the rows that are ours, locked or
/// not.
std::string rows_seen(const tables&, kept_in, const std::vector<held_row>&);

} // namespace holdfast::mysql
