// SPDX-License-Identifier: Apache-2.0
// SQL statements about what several owners may have at once: the readers of a lock, the marks of
// waiting writers, and permits.
#pragma once

#include "store/mysql/lock_texts.hpp"
#include "store/mysql/names.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <vector>

namespace holdfast::mysql {

/// Column `kind` of the table of holds.
enum class hold_row : int {
    reader = 0,
    mark = 1, ///< mark of a waiting writer; new readers are not granted
    permit = 2,
    turn = 3 ///< a waiter of a fair lock; `token` is its number in the queue
};

/// Returns the owner of this client's other hold, if the request upgrades or downgrades a hold
/// (`ask::under`). Empty: it does not.
std::string owner_beside(const ask&);

// Conditions and values inside an UPDATE of the table of locks, so they are read while the lock's
// row is locked. They are locking reads; other reads would show the state at the statement's begin.

std::string reads(const tables&, const std::string& owner);
std::string somebody_reads(const tables&, const std::string& but_this_owner);
std::string last_reader_ends(const tables&, const std::string& but_this_owner);
std::string another_upgrades(const tables&, const std::string& but_this_owner);

/// Returns one attempt to read, a transaction. Its UPDATE has the `packed_answer` as its insert id.
/// If that is a grant, the INSERT must have inserted a row; otherwise the attempt was late.
std::vector<std::string> read_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t read_update_at = 1, read_insert_at = 2;

/// Returns a transaction that releases a read hold. Its first DELETE has one row if the owner held
/// the lock.
std::vector<std::string> read_release(const tables&, const hold&);
inline constexpr std::size_t read_delete_at = 2;

/// Returns the statements that follow a writer's attempt in the same write. They make or extend the
/// writer's mark if the attempt was busy, and delete the mark if it was granted.
std::vector<std::string> marks_after_attempt(const tables&, const ask&);
std::string mark_removed(const tables&, const hold&);

} // namespace holdfast::mysql
