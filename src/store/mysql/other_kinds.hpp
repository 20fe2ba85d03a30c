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

/// Returns the arms of an attempt's CASE that refuse a name of another kind. In the CASE they
/// follow the arm for an owner that already holds the lock.
std::string other_kinds_refused(const tables&, const ask&);

/// Returns the condition that readers use the name. The condition sets no row locks. It is needed
/// because older versions of holdfast do not mark the lock's row for readers.
std::string is_read_by_anybody(const tables&, const lock_name&);

/// Returns the value of column `kind` for a new row. The value is `counter` if a reader or a
/// counter uses the name. Every attempt then checks the other tables too.
std::string kind_of_new_row(const tables&, const lock_name&);

/// Returns a statement that marks the lock's row before a counter with the same name is created. An
/// attempt to take the lock then waits for the row and checks the counter.
std::string counter_announced(const tables&, const lock_name&);

/// Returns SQL that yields a reason (packed_answer.hpp) for each kind that uses the name.
std::string kinds_there(const tables&, const lock_name&);

/// Returns the other kind that uses the name, in words. `result` is an answer to `kinds_there`.
/// Null: only the kind of `own_reason`, or no kind, uses the name.
const char* other_kind_in(const result&, std::uint64_t own_reason);

std::uint64_t reason_for(lock_kind) noexcept;
std::uint64_t reason_for(counter_kind) noexcept;

} // namespace holdfast::mysql
