// SPDX-License-Identifier: Apache-2.0
// The statements about what several may have at once: the readers of a lock, the marks of writers
// that wait for them, and permits.
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
    mark = 1, ///< a writer waits: no new reader joins
    permit = 2,
    turn = 3 ///< who waits for a fair lock; `token` is the number of its turn
};

/// The owner of the client's other hold that an upgrade stands beside; empty: none.
std::string owner_beside(const ask&);

// Conditions and values inside an UPDATE of the table of locks, so they are seen under the lock of
// its row. They are locking reads: others would see what was so when the statement began.

std::string reads(const tables&, const std::string& owner);
std::string somebody_reads(const tables&, const std::string& but_this_owner);
std::string last_reader_ends(const tables&, const std::string& but_this_owner);
std::string another_upgrades(const tables&, const std::string& but_this_owner);

/// One attempt to read: a transaction. The first of its answers that is an UPDATE has the
/// `packed_answer` as its insert id; if it is granted, the INSERT must have a row, or it is late.
std::vector<std::string> read_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t read_update_at = 1, read_insert_at = 2;

/// A transaction; its DELETE has one row if it was this owner's.
std::vector<std::string> read_release(const tables&, const hold&);
inline constexpr std::size_t read_delete_at = 2;

/// Behind a writer's attempt, in the same write: its mark, if it was busy; and no mark of it any
/// more, if it was granted.
std::vector<std::string> marks_after_attempt(const tables&, const ask&);
std::string mark_removed(const tables&, const hold&);

} // namespace holdfast::mysql
