// SPDX-License-Identifier: Apache-2.0
// SQL statements about exclusive holds: mutexes of all kinds, and the writer's side.
#pragma once

#include "store/mysql/names.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// Values of column `kind` in the table of locks: the kind that used the name last. If it is
/// `exclusive` and the row is free, the server can grant a mutex without reading the other tables.
enum class kind_column : int { exclusive = 0, shared = 1, counter = 2 };

kind_column kind_in_row(lock_kind) noexcept;

/// Parameters of an attempt that are not in the request itself.
struct attempt_terms {
    std::string late;   ///< the deadline, from `late_after`
    std::string info{}; ///< description of this client for administrators
    /// Unique value that the first statement of a transaction writes into a row. The later
    /// statements find the row by this value.
    std::string touched{};
    /// user lock to take together with the lock, if it is free at once; empty: none
    std::string bell{};
};

/// Returns the shortest attempt. It is tried first, because most locks are free. It is not suitable
/// for writers. Its insert id shows a grant. The insert id is 0 if the lock is busy or its row is
/// missing.
std::string lock_attempt_if_free(const tables&, const ask&, const attempt_terms&);

/// Returns one attempt to take the lock exclusively. The insert id is a `packed_answer`. A writer
/// is granted the lock if there are no other readers. A read hold of the same client that is being
/// upgraded (`ask::under`) does not count.
std::string lock_attempt(const tables&, const ask&, const attempt_terms&);

/// Returns a statement that inserts the row of an unused name. INSERT IGNORE is not used: it
/// truncates long names, and two locks could become one.
std::string lock_row(const tables&, const lock_name&);

/// Returns the statement that releases the lock. Its insert id is 0 if the owner does not hold the
/// lock, 1 if the lease had expired, and 2 if the lease was still running. The release also gives
/// back the user lock `bell`. 4 is added if a waiter took `bell` at once. That waiter's attempt
/// waits for the row until this release is committed.
std::string lock_release(const tables&, const hold&, std::string_view bell = {});

/// Returns a statement that releases only the user lock.
std::string bell_dropped(std::string_view bell);

} // namespace holdfast::mysql
