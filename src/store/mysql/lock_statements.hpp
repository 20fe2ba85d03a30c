// SPDX-License-Identifier: Apache-2.0
// SQL statements about locks of all kinds: exclusive holds, readers, waiting writers, the queues of
// fair locks, permits, and the refusal of a name that another kind uses. The code here does no I/O.
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

/// Values of column `kind` in the table of locks: the kind that used the name last. If the value is
/// `exclusive` and the row is free, the server can grant a mutex without reading the other tables.
enum class kind_column : int { exclusive = 0, shared = 1, counter = 2 };

kind_column kind_in_row(lock_kind) noexcept;

/// Values that an attempt needs in addition to the request.
struct attempt_terms {
    std::string late;   ///< the deadline, from `late_after`
    std::string info{}; ///< description of this client for administrators
    /// Value that is used only once. The first statement of a transaction writes it into a row, so
    /// that the later statements find the row.
    std::string touched{};
    /// User lock (GET_LOCK) to take together with the lock, if it is free at once. If empty, no
    /// user lock is taken.
    std::string bell{};
};

/// Returns the statement of the shortest attempt. It is tried first, because most locks are free; a
/// writer cannot use it. If the insert id is 0, the lock is busy or its row is missing. Otherwise
/// the lock was granted.
std::string lock_attempt_if_free(const tables&, const ask&, const attempt_terms&);

/// Returns one attempt to take the lock exclusively. The insert id is a `packed_answer`. A writer
/// gets the lock if there are no readers. A read hold of the same client that the writer upgrades
/// (`ask::under`) does not matter.
std::string lock_attempt(const tables&, const ask&, const attempt_terms&);

/// Returns a statement that inserts the row of an unused name. The statement is not INSERT IGNORE,
/// because that truncates long names, and two locks could become one.
std::string lock_row(const tables&, const lock_name&);

/// Returns the statement that releases the lock. Its insert id is 0 if the owner does not hold the
/// lock, 1 if the lease had expired, and 2 if the lease was still running. The statement also
/// releases the user lock `bell`. If a waiter took `bell` at once, 4 is added to the insert id; the
/// waiter's attempt then waits for the row until this release is committed.
std::string lock_release(const tables&, const hold&, std::string_view bell = {});

/// Returns the statement that gives an exclusive hold to the owner `wanted.owner`. Its insert id is
/// 0 if neither owner holds the lock, 1 if the new owner holds it now, and 2 if the statement was
/// executed after the deadline.
std::string lock_transfer(const tables&, const hold&, const ask& wanted, const attempt_terms&);

/// Returns a statement that releases only the user lock.
std::string bell_dropped(std::string_view bell);

// SQL statements about rows of which a lock can have several: rows of readers, rows of waiting
// writers (marks), and rows of permits.

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

// Functions that return SQL conditions and values for an UPDATE of the table of locks. The UPDATE
// has locked the lock's row, and reads other rows with locking reads. Ordinary reads would show the
// rows as they were when the statement began.

std::string reads(const tables&, const std::string& owner);
std::string somebody_reads(const tables&, const std::string& but_this_owner);
std::string last_reader_ends(const tables&, const std::string& but_this_owner);
std::string another_upgrades(const tables&, const std::string& but_this_owner);

/// Returns the statements of one attempt to get a read hold; they form a transaction. The insert id
/// of the UPDATE is the answer (`packed_answer`). If the answer is a grant but the INSERT has
/// inserted no row, the INSERT was late, and the owner holds nothing.
std::vector<std::string> read_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t read_update_at = 1, read_insert_at = 2;

/// Returns a transaction that releases a read hold. If the owner held the lock, the first DELETE of
/// the transaction removes one row.
std::vector<std::string> read_release(const tables&, const hold&);
inline constexpr std::size_t read_delete_at = 2;

/// Returns the statements that follow a writer's attempt in the same request. If the lock was busy,
/// they insert or extend the writer's mark. If the lock was granted, they delete the mark.
std::vector<std::string> marks_after_attempt(const tables&, const ask&);
std::string mark_removed(const tables&, const hold&);

// The queue of a fair lock has a row for each waiter, in order of arrival. After the owner's last
// attempt, the row stays for the time that the owner has set (`outlasts`), even if the owner's
// connections are lost.

// Functions that return SQL conditions and values for an UPDATE of the table of locks. The UPDATE
// locks the lock's row, so no other request changes the queue while it is read.

std::string others_come_first(const tables&, const owner_id&);
/// Returns an SQL expression for the expiry of the first queue row in front of the owner's row.
std::string first_turn_ends(const tables&, const owner_id&);

/// Returns the statements of one attempt to get a fair lock; they form a transaction. The insert id
/// of the UPDATE is the answer (`packed_answer`). A granted attempt deletes the owner's queue row.
/// A busy attempt keeps the row, or inserts it; the INSERT then affects one row.
std::vector<std::string> fair_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t fair_update_at = 1, fair_insert_at = 3;

std::string turn_removed(const tables&, const hold&);

/// Returns the SQL condition that the lock is free and no other waiter is in front in the queue.
std::string turn_has_come(const tables&, const ask&);

// SQL statements about held permits. The total number of permits is a counter (counters.hpp). Each
// statement first locks the counter's row, so that no two requests count the permits at the same
// time.

/// Returns the ids of the permits of a request or hold. Each permit is a row with its own id.
std::vector<std::string> permit_rows(const hold&);

/// Returns the statements of one attempt to get permits; they form a transaction. The attempt gets
/// all wanted permits or none. Permits that the owner already holds stay held. The insert id of the
/// UPDATE is the answer (`packed_answer`). If the answer is a grant but the INSERT has inserted no
/// rows, the INSERT was late, and the owner holds no new permits.
std::vector<std::string> permit_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t permit_update_at = 1, permit_insert_at = 2;

/// Returns a transaction that releases permits. Its first DELETE removes one row for each permit
/// that was held.
std::vector<std::string> permit_release(const tables&, const hold&);
inline constexpr std::size_t permit_delete_at = 2;

/// Returns the SQL condition that enough permits are free for the request.
std::string permits_may_be_had(const tables&, const ask&);

// SQL that refuses a name which another kind uses. The lock's row shows whether a mutex or a writer
// uses the name, the hold rows show readers, and the counter's row shows a leased semaphore or a
// latch.

/// Returns the branches of an attempt's CASE that refuse a name of another kind. In the CASE, they
/// follow the branch for an owner that already holds the lock.
std::string other_kinds_refused(const tables&, const ask&);

/// Returns the SQL condition that readers use the name. The condition locks no rows. It is needed
/// because older versions of holdfast do not mark the lock's row for readers.
std::string is_read_by_anybody(const tables&, const lock_name&);

/// Returns the value of column `kind` for a new row. If a reader or a counter uses the name, the
/// value is `counter`; every attempt then also checks the other tables.
std::string kind_of_new_row(const tables&, const lock_name&);

/// Returns a statement that marks the lock's row before a counter with the same name is created. An
/// attempt to take the lock waits for that row, and then checks the counter.
std::string counter_announced(const tables&, const lock_name&);

/// Returns SQL that yields a reason (see `packed_answer`) for each kind that uses the name.
std::string kinds_there(const tables&, const lock_name&);

/// Returns, as text for messages, the kind that uses the name, if it is not the kind of
/// `own_reason`. Returns null if there is no such kind. `result` is the answer to `kinds_there`.
const char* other_kind_in(const result&, std::uint64_t own_reason);

std::uint64_t reason_for(lock_kind) noexcept;
std::uint64_t reason_for(counter_kind) noexcept;

/// Returns the statement that `transaction_guard` sends for this owner's hold. The function does
/// not check whether the lease is valid.
std::string guard_text(const std::string& quoted_table, std::string_view name,
                       std::string_view owner);

} // namespace holdfast::mysql
