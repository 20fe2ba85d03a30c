// SPDX-License-Identifier: Apache-2.0
// SQL that refuses a name which another kind has. A mutex or a writer has the name by the lock's
// row. Readers have it by their hold rows. Leased semaphores and latches have it by the counter's
// row.
#pragma once

#include "store/mysql/names.hpp"
#include "store/mysql/site.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <cstdint>
#include <string>

namespace holdfast::mysql {

/// Returns the arms of an attempt's CASE that refuse the name of another kind. They follow the arm
/// for an owner that holds the lock already.
std::string other_kinds_refused(const tables&, const ask&);

/// Returns the condition, without row locks, that readers have the name. It is needed because
/// readers of older versions of holdfast do not mark the lock's row.
std::string is_read_by_anybody(const tables&, const lock_name&);

/// Returns the value of column `kind` for a new row. It is `counter` if a reader or a counter has
/// the name, so that every attempt looks at the other tables.
std::string kind_of_new_row(const tables&, const lock_name&);

/// Returns a statement that marks the lock's row before a counter of that name is made. An attempt
/// for the lock then waits for the row, and looks at the counter.
std::string counter_announced(const tables&, const lock_name&);

/// Returns SQL that yields the reason (packed_answer.hpp) for each kind that has the name.
std::string kinds_there(const tables&, const lock_name&);

/// Returns, in words, another kind that has the name according to an answer to `kinds_there`. Null:
/// only the kind of `own_reason`, or no kind, has it.
const char* other_kind_in(const result&, std::uint64_t own_reason);

std::uint64_t reason_for(lock_kind) noexcept;
std::uint64_t reason_for(counter_kind) noexcept;

} // namespace holdfast::mysql
