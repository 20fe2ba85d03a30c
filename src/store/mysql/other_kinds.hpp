// SPDX-License-Identifier: Apache-2.0
// The parts of statements that refuse a name which another kind has. A mutex, or the writer of a
// read-write lock, has a name by the row of the lock; readers have it by their holds; leased
// semaphores and latches have it by the row of the counter.
#pragma once

#include "store/mysql/names.hpp"
#include "store/mysql/site.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <cstdint>
#include <string>

namespace holdfast::mysql {

/// The arms of an attempt's CASE that refuse the name of another kind. They stand behind the arm
/// for the owner that holds the lock already.
std::string other_kinds_refused(const tables&, const ask&);

/// A condition without locks on rows: readers have the name. Readers mark the row of the lock, but
/// those of older versions of holdfast do not.
std::string is_read_by_anybody(const tables&, const lock_name&);

/// The value of column `kind` for a new row: `counter` if a reader or a counter has the name, so
/// that no attempt is granted without a look at these.
std::string kind_of_new_row(const tables&, const lock_name&);

/// Marks the row of the lock before a counter of that name is made. An attempt for the lock waits
/// for the row then, and looks at the counter.
std::string counter_announced(const tables&, const lock_name&);

/// Returns SQL that yields the reason (packed_answer.hpp) for each kind that has the name.
std::string kinds_there(const tables&, const lock_name&);

/// Returns what has the name in words, if an answer to `kinds_there` tells of another kind than the
/// one that has this reason. Null: no other kind has it.
const char* other_kind_in(const result&, std::uint64_t own_reason);

std::uint64_t reason_for(lock_kind) noexcept;
std::uint64_t reason_for(counter_kind) noexcept;

} // namespace holdfast::mysql
