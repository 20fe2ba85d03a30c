// SPDX-License-Identifier: Apache-2.0
// SQL statements about locks of all kinds: exclusive holds, readers, waiting writers, the queues of
// fair locks, and permits. Also SQL that refuses a name if another kind of lock uses it. The
// functions do no I/O.
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

// SQL statements about exclusive holds. These are the holds of writers, and of mutexes of all
// kinds.

/// Values of column `kind` in the table of locks. The column has the kind that last used the name.
/// If the row is free and the value is `exclusive`, the server can grant a mutex without reading
/// the other tables.
enum class kind_column : int { exclusive = 0, shared = 1, counter = 2 };

kind_column kind_in_row(lock_kind) noexcept;

/// Values of an attempt that are not in the request.
struct attempt_terms {
    std::string late;   ///< the deadline as SQL, from `late_after`
    std::string info{}; ///< description of this client for administrators
    /// A value that no other attempt uses. The first statement of a transaction writes this value
    /// into a row, so that the later statements can find the row.
    std::string touched{};
    /// Name of a lock of the database server (GET_LOCK). The attempt also takes this lock if it can
    /// do so without waiting. If the name is empty, the attempt takes no such lock.
    std::string bell{};
};

/// Returns the shortest attempt to take a lock. The client sends this attempt first, because most
/// locks are free. A writer cannot use it. If the insert id of the statement is 0, the lock is busy
/// or has no row. Any other insert id means that the lock was granted.
std::string lock_attempt_if_free(const tables&, const ask&, const attempt_terms&);

/// Returns an attempt to take the lock exclusively. The insert id of the statement is the answer
/// (`packed_answer`). A writer gets the lock if there are no readers. The read hold that the writer
/// upgrades (`ask::under`) does not count.
std::string lock_attempt(const tables&, const ask&, const attempt_terms&);

/// Returns a statement that inserts the row of a lock. The statement is not INSERT IGNORE, because
/// that cuts long names, so that two locks could get the same row.
std::string lock_row(const tables&, const lock_name&);

/// Returns the statement that releases the lock and the user lock `bell`. The insert id of the
/// statement is 0 if the owner does not hold the lock, 1 if the lease had expired, and 2 otherwise.
/// If a waiter took `bell` at once, 4 is added. The waiter's attempt then waits for the row until
/// this release is committed.
std::string lock_release(const tables&, const hold&, std::string_view bell = {});

/// Returns the statement that transfers an exclusive hold to the owner `wanted.owner`. The insert
/// id of the statement is 0 if neither owner holds the lock, 1 if the new owner holds it now, and 2
/// if the deadline had passed.
std::string lock_transfer(const tables&, const hold&, const ask& wanted, const attempt_terms&);

/// Returns a statement that releases the user lock (GET_LOCK) and nothing else.
std::string bell_dropped(std::string_view bell);

// SQL statements about the table of holds. In this table, a lock can have several rows: for its
// readers, its waiting writers (marks), and its permits.

/// Values of column `kind` in the table of holds.
enum class hold_row : int {
    reader = 0,
    mark = 1, ///< a waiting writer; keeps new readers away
    permit = 2,
    turn = 3 ///< waiter of a fair lock; `token` is its number in the queue
};

/// Returns the owner of the hold that the request upgrades or downgrades (`ask::under`). This hold
/// belongs to the same client. Returns an empty text for any other request.
std::string owner_beside(const ask&);

// SQL conditions and values for an UPDATE of the table of locks. The UPDATE has locked the lock's
// row. It reads other rows with locking reads. Without them, it would see those rows in their state
// at the beginning of the statement.

std::string reads(const tables&, const std::string& owner);
std::string somebody_reads(const tables&, const std::string& but_this_owner);
std::string last_reader_ends(const tables&, const std::string& but_this_owner);
std::string another_upgrades(const tables&, const std::string& but_this_owner);

/// Returns the transaction of one attempt to get a read hold. The insert id of its UPDATE is the
/// answer (`packed_answer`). If the UPDATE granted the hold but the INSERT inserted no row, the
/// INSERT came too late, and the owner holds nothing.
std::vector<std::string> read_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t read_update_at = 1, read_insert_at = 2;

/// Returns the transaction that releases a read hold. Its first DELETE removes one row if the owner
/// had the hold.
std::vector<std::string> read_release(const tables&, const hold&);
inline constexpr std::size_t read_delete_at = 2;

/// Returns the statements that follow a writer's attempt in the same request. They insert or extend
/// the writer's mark if the lock was busy, and delete the mark if the lock was granted.
std::vector<std::string> marks_after_attempt(const tables&, const ask&);
std::string mark_removed(const tables&, const hold&);

// Queue of a fair lock. It has one row for each waiter, in the order of arrival. Each attempt keeps
// the waiter's row for the time `outlasts`, even if the waiter's connections are lost.

// SQL conditions and values for an UPDATE of the table of locks. The UPDATE locks the lock's row,
// so no other request changes the queue meanwhile.

std::string others_come_first(const tables&, const owner_id&);
/// Returns an SQL expression for the time at which the first waiter before this owner expires.
std::string first_turn_ends(const tables&, const owner_id&);

/// Returns the transaction of one attempt to get a fair lock. The insert id of its UPDATE is the
/// answer (`packed_answer`). If the lock is granted, the transaction deletes the owner's queue row.
/// If the lock is busy, it keeps or inserts this row; an INSERT then affects one row.
std::vector<std::string> fair_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t fair_update_at = 1, fair_insert_at = 3;

std::string turn_removed(const tables&, const hold&);

/// Returns the SQL condition that the lock is free and no other waiter comes before this owner.
std::string turn_has_come(const tables&, const ask&);

// SQL statements about held permits. The total number of permits is a counter (counters.hpp). Each
// statement first locks the counter's row, so that two requests never count the permits at the same
// time.

/// Returns the ids of the permits of a request or hold. Each permit is one row, with its own id.
std::vector<std::string> permit_rows(const hold&);

/// Returns the transaction of one attempt to get permits. The attempt gets all wanted permits or
/// none. Permits that the owner already holds stay held. The insert id of its UPDATE is the answer
/// (`packed_answer`). If the UPDATE granted the permits but the INSERT inserted no rows, the INSERT
/// came too late, and the owner holds no new permits.
std::vector<std::string> permit_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t permit_update_at = 1, permit_insert_at = 2;

/// Returns the transaction that releases permits. Its first DELETE removes one row for each permit
/// that was held.
std::vector<std::string> permit_release(const tables&, const hold&);
inline constexpr std::size_t permit_delete_at = 2;

/// Returns the SQL condition that enough permits are free for the request.
std::string permits_may_be_had(const tables&, const ask&);

// SQL that refuses a name if another kind of lock or counter uses it. The lock's row shows that a
// mutex or a writer uses the name. The hold rows show readers. The counter's row shows a leased
// semaphore or a latch.

/// Returns the branches of an attempt's CASE expression that refuse a name of another kind. They
/// follow the branch for an owner that already holds the lock.
std::string other_kinds_refused(const tables&, const ask&);

/// Returns the SQL condition that readers use the name. The condition locks no rows. It is needed
/// because older versions of holdfast do not write the kind into the lock's row for readers.
std::string is_read_by_anybody(const tables&, const lock_name&);

/// Returns the value of column `kind` for a new row. The value is `counter` if a reader or a
/// counter uses the name. Because of this value, each attempt also checks the other tables.
std::string kind_of_new_row(const tables&, const lock_name&);

/// Returns a statement that writes the kind `counter` into the lock's row before a counter with the
/// same name is created. An attempt to take the lock waits for that row, and then finds the
/// counter.
std::string counter_announced(const tables&, const lock_name&);

/// Returns SQL that lists the kinds of locks and counters that use the name. Each kind is a reason;
/// see `packed_answer`.
std::string kinds_there(const tables&, const lock_name&);

/// If another kind than that of `own_reason` uses the name, returns this other kind, as text for
/// messages. Otherwise returns null. `result` is the answer to kinds_there().
const char* other_kind_in(const result&, std::uint64_t own_reason);

std::uint64_t reason_for(lock_kind) noexcept;
std::uint64_t reason_for(counter_kind) noexcept;

/// Returns the statement that `transaction_guard` sends for this owner's hold. The caller must
/// check whether the lease is valid.
std::string guard_text(const std::string& quoted_table, std::string_view name,
                       std::string_view owner);

} // namespace holdfast::mysql
