// SPDX-License-Identifier: Apache-2.0
// The queue of a fair lock: a row for each waiter, in order of arrival. A row stays for the time
// that its owner has set (`outlasts`) after the owner's last attempt, even if connections are lost.
#pragma once

#include "store/mysql/lock_texts.hpp"
#include "store/mysql/names.hpp"

#include <holdfast/store.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::mysql {

// The next functions return conditions and values for an UPDATE of the table of locks. The queue is
// thus read while the lock's row is locked.

std::string others_come_first(const tables&, const owner_id&);
/// Returns an expression for the expiry of the first queue row before the owner's row.
std::string first_turn_ends(const tables&, const owner_id&);

/// Returns the statements of one attempt; they are a transaction. The insert id of the UPDATE is
/// the `packed_answer`. A granted attempt deletes the owner's queue row; a busy attempt leaves the
/// owner with a queue row. The INSERT affects one row if the queue row is new.
std::vector<std::string> fair_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t fair_update_at = 1, fair_insert_at = 3;

std::string turn_removed(const tables&, const hold&);

/// Returns the condition that the lock is free and no other waiter is earlier in the queue.
std::string turn_has_come(const tables&, const ask&);

} // namespace holdfast::mysql
