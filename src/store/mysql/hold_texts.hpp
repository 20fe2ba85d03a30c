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

/// Values of column `kind` in the table of holds.
enum class hold_row : int {
    reader = 0,
    mark = 1, ///< mark of a waiting writer; new readers are not granted
    permit = 2,
    turn = 3 ///< waiter of a fair lock; `token` is the waiter's number in the queue
};

/// Returns the owner of this client's other hold if the request upgrades or downgrades that hold
/// (`ask::under`). Otherwise returns an empty text.
std::string owner_beside(const ask&);

// The next functions return conditions and values for an UPDATE of the table of locks. The rows are
// read while the lock's row is locked. They use locking reads. Other reads would show the state at
// the begin of the statement.

std::string reads(const tables&, const std::string& owner);
std::string somebody_reads(const tables&, const std::string& but_this_owner);
std::string last_reader_ends(const tables&, const std::string& but_this_owner);
std::string another_upgrades(const tables&, const std::string& but_this_owner);

/// Returns the statements of one attempt to read; they are a transaction. The insert id of the
/// UPDATE is the `packed_answer`. If the answer is a grant, the INSERT must have inserted a row.
/// Otherwise the attempt was late.
std::vector<std::string> read_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t read_update_at = 1, read_insert_at = 2;

/// Returns a transaction that releases a read hold. Its first DELETE removes one row if the owner
/// held the lock.
std::vector<std::string> read_release(const tables&, const hold&);
inline constexpr std::size_t read_delete_at = 2;

/// Returns the statements that follow a writer's attempt in the same write. After a busy attempt
/// they insert or extend the writer's mark. After a granted attempt they delete the mark.
std::vector<std::string> marks_after_attempt(const tables&, const ask&);
std::string mark_removed(const tables&, const hold&);

} // namespace holdfast::mysql
