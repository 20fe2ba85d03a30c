// SPDX-License-Identifier: Apache-2.0
// SQL statements about locks of all kinds: exclusive holds, readers, waiting writers, the queues of
// fair locks, permits, and the refusal of a name that another kind has. The code here does no I/O.
#pragma once

#include "store/mysql/request_context.hpp"
#include "store/mysql/sql.hpp"

#include <holdfast/counters.hpp>
#include <holdfast/store.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::mysql {

// SQL statements about exclusive holds: of mutexes of all kinds, and of writers.

/// Values of column `kind` in the table of locks: the kind that used the name last. If it is
/// `exclusive` and the row is free, the server can grant a mutex without reading the other tables.
enum class kind_column : int { exclusive = 0, shared = 1, counter = 2 };

kind_column kind_in_row(lock_kind) noexcept;

/// Parameters of an attempt that are not in the request itself.
struct attempt_terms {
    std::string late;   ///< the deadline, from `late_after`
    std::string info{}; ///< description of this client for administrators
    /// Unique value that the first statement of a transaction writes into a row, so that the later
    /// statements find the row.
    std::string touched{};
    /// User lock (GET_LOCK) to take together with the lock, if it is free at once. Empty: none.
    std::string bell{};
};

/// Returns the statement of the shortest attempt, which is tried first, because most locks are
/// free. It cannot be used for writers. If the insert id is 0, the lock is busy or its row is
/// missing; otherwise the lock was granted.
std::string lock_attempt_if_free(const tables&, const ask&, const attempt_terms&);

/// Returns one attempt to take the lock exclusively. The insert id is a `packed_answer`. A writer
/// is granted the lock if there are no readers, apart from the read hold of the same client that
/// the writer upgrades (`ask::under`).
std::string lock_attempt(const tables&, const ask&, const attempt_terms&);

/// Returns a statement that inserts the row of an unused name. INSERT IGNORE is not used, because
/// it truncates long names, so that two locks could become one.
std::string lock_row(const tables&, const lock_name&);

/// Returns the statement that releases the lock. Its insert id is 0 if the owner does not hold the
/// lock, 1 if the lease had expired, and 2 if the lease was still running. The release also gives
/// back the user lock `bell`. If a waiter took `bell` at once, 4 is added to the insert id; that
/// waiter's attempt waits for the row until this release is committed.
std::string lock_release(const tables&, const hold&, std::string_view bell = {});

/// Returns a statement that releases only the user lock.
std::string bell_dropped(std::string_view bell);

// SQL statements about rows of which a lock can have several: the rows of readers, of waiting
// writers (marks), and of permits.

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

// The next functions return conditions and values for an UPDATE of the table of locks. The UPDATE
// has locked the lock's row, and reads other rows with locking reads. Other reads would show the
// rows as they were when the statement began.

std::string reads(const tables&, const std::string& owner);
std::string somebody_reads(const tables&, const std::string& but_this_owner);
std::string last_reader_ends(const tables&, const std::string& but_this_owner);
std::string another_upgrades(const tables&, const std::string& but_this_owner);

/// Returns the statements of one attempt to get a read hold; they are a transaction. The insert id
/// of the UPDATE is the answer (`packed_answer`). If the answer is a grant but the INSERT has
/// inserted no row, the attempt was late and holds nothing.
std::vector<std::string> read_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t read_update_at = 1, read_insert_at = 2;

/// Returns a transaction that releases a read hold. Its first DELETE removes one row if the owner
/// held the lock.
std::vector<std::string> read_release(const tables&, const hold&);
inline constexpr std::size_t read_delete_at = 2;

/// Returns the statements that are sent together with a writer's attempt, after it. If the attempt
/// was busy, they insert or extend the writer's mark; if it was granted, they delete the mark.
std::vector<std::string> marks_after_attempt(const tables&, const ask&);
std::string mark_removed(const tables&, const hold&);

// The queue of a fair lock: a row for each waiter, in order of arrival. After the owner's last
// attempt, the row stays for the time that the owner has set (`outlasts`), even if the owner's
// connections are lost.

// The next functions return conditions and values for an UPDATE of the table of locks. The UPDATE
// locks the lock's row, so the queue is read under this row lock.

std::string others_come_first(const tables&, const owner_id&);
/// Returns an expression for the expiry of the first queue row before the owner's row.
std::string first_turn_ends(const tables&, const owner_id&);

/// Returns the statements of one attempt to get a fair lock; they are a transaction. The insert id
/// of the UPDATE is the answer (`packed_answer`). A granted attempt deletes the owner's queue row;
/// a busy attempt keeps or inserts it. The INSERT affects one row if the queue row is new.
std::vector<std::string> fair_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t fair_update_at = 1, fair_insert_at = 3;

std::string turn_removed(const tables&, const hold&);

/// Returns the condition that the lock is free and no other waiter is earlier in the queue.
std::string turn_has_come(const tables&, const ask&);

// SQL statements about held permits. The total is a counter (counters.hpp). Each statement locks
// the counter's row first, so that no two requests count the permits at the same time.

/// Returns the ids of the permits of a request or hold. Each permit is a row with its own id.
std::vector<std::string> permit_rows(const hold&);

/// Returns the statements of one attempt to get permits; they are a transaction. The attempt gets
/// all wanted permits or none. Permits that the owner already holds stay held. The insert id of the
/// UPDATE is the answer (`packed_answer`). If the answer is a grant but the INSERT has inserted no
/// rows, the attempt was late and holds no new permits.
std::vector<std::string> permit_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t permit_update_at = 1, permit_insert_at = 2;

/// Returns a transaction that releases permits. Its first DELETE removes one row for each permit
/// that was held.
std::vector<std::string> permit_release(const tables&, const hold&);
inline constexpr std::size_t permit_delete_at = 2;

/// Returns the condition that enough permits are free for the request.
std::string permits_may_be_had(const tables&, const ask&);

// SQL that refuses a name which another kind uses. The lock's row shows that a mutex or a writer
// uses the name, the hold rows show readers, and the counter's row shows a leased semaphore or a
// latch.

/// Returns the arms of an attempt's CASE that refuse a name of another kind. In the CASE they
/// follow the arm for an owner that already holds the lock.
std::string other_kinds_refused(const tables&, const ask&);

/// Returns the condition that readers use the name. The condition sets no row locks. It is needed
/// because older versions of holdfast do not mark the lock's row for readers.
std::string is_read_by_anybody(const tables&, const lock_name&);

/// Returns the value of column `kind` for a new row. If a reader or a counter uses
/// the name, the value is `counter`, and every attempt then checks the other tables,
/// too.
std::string kind_of_new_row(const tables&, const lock_name&);

/// Returns a statement that marks the lock's row before a counter with the same name is created. An
/// attempt to take the lock then waits for the row, and checks the counter after that.
std::string counter_announced(const tables&, const lock_name&);

/// Returns SQL that yields a reason (see `packed_answer`) for each kind that uses the name.
std::string kinds_there(const tables&, const lock_name&);

/// Returns, in words, the kind that uses the name, if it is not the kind of `own_reason`. Returns
/// null if there is no such kind. `result` is the answer to `kinds_there`.
const char* other_kind_in(const result&, std::uint64_t own_reason);

std::uint64_t reason_for(lock_kind) noexcept;
std::uint64_t reason_for(counter_kind) noexcept;

/// Returns the statement that `transaction_guard` sends for this owner's hold. The function does
/// not check whether the lease is valid.
std::string guard_text(const std::string& quoted_table, std::string_view name,
                       std::string_view owner);

} // namespace holdfast::mysql
