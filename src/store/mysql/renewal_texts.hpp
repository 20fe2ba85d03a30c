// SPDX-License-Identifier: Apache-2.0
// A renewal is two writes: a transaction begins and locks the rows that nobody else has locked;
// then they are prolonged. So a row on which somebody sits delays no other.
#pragma once

#include "store/mysql/kinds.hpp"

#include <string>
#include <vector>

namespace holdfast::mysql {

/// One row of a hold: of permits it has several.
struct held_row {
    std::string name, owner;
    bool operator<(const held_row& other) const {
        return name != other.name ? name < other.name : owner < other.owner;
    }
};

std::vector<held_row> rows_of(const hold&);

/// Name and owner of those that are ours and that nobody has locked.
std::string rows_locked(const tables&, kept_in, const std::vector<held_row>&);

/// Matches as many rows as were prolonged. It says by itself whose they are: a server may have
/// ended the transaction meanwhile.
std::string rows_prolonged(const tables&, kept_in, const std::vector<held_row>&,
                           duration lease_time);

/// Name, owner and the microseconds that are left of those that are ours, locked or not.
std::string rows_seen(const tables&, kept_in, const std::vector<held_row>&);

} // namespace holdfast::mysql
