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

// Conditions and values inside an UPDATE of the table of locks. The queue is thus read while the
// lock's row is locked.

std::string others_come_first(const tables&, const owner_id&);
/// Expiry of the earliest queue row before the owner.
std::string first_turn_ends(const tables&, const owner_id&);

/// Returns one attempt, a transaction. Its UPDATE has the `packed_answer`. If the attempt is
/// granted, the owner's queue row is deleted; if the lock is busy, the owner has a queue row
/// afterwards. The INSERT has one row if the queue row is new.
std::vector<std::string> fair_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t fair_update_at = 1, fair_insert_at = 3;

std::string turn_removed(const tables&, const hold&);

/// Returns the condition that the lock is free and no other waiter comes first.
std::string turn_has_come(const tables&, const ask&);

} // namespace holdfast::mysql
