// SPDX-License-Identifier: Apache-2.0
// The queue of a fair lock: a row for each that waits, in the order in which they came. A place
// outlives its owner's last look for as long as its owner wants, whatever becomes of connections.
#pragma once

#include "store/mysql/lock_texts.hpp"
#include "store/mysql/names.hpp"

#include <holdfast/store.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::mysql {

// Inside an UPDATE of the table of locks: so they are seen under the lock of its row.

std::string others_come_first(const tables&, const owner_id&);
std::string first_turn_ends(const tables&, const owner_id&); ///< of those

/// One attempt, a transaction: its UPDATE has the `packed_answer`; a grant ends the place in the
/// queue, and whoever is busy has one then: the INSERT has one row if it is new.
std::vector<std::string> fair_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t fair_update_at = 1, fair_insert_at = 3;

std::string turn_removed(const tables&, const hold&);

/// A condition: it is free, and nobody comes first.
std::string turn_has_come(const tables&, const ask&);

} // namespace holdfast::mysql
