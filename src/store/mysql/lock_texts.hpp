// SPDX-License-Identifier: Apache-2.0
// SQL statements about exclusive holds: mutexes of all kinds, and the writer's side.
#pragma once

#include "store/mysql/names.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// Column `kind` of the table of locks: the kind that had the name last. If it is `exclusive` and
/// the row is free, a mutex may be granted without a look at the other tables.
enum class kind_column : int { exclusive = 0, shared = 1, counter = 2 };

kind_column kind_in_row(lock_kind) noexcept;

/// Parameters of an attempt besides the request itself.
struct attempt_terms {
    std::string late;   ///< the deadline, from `late_after`
    std::string info{}; ///< who this client is, for people
    /// Unique value by which the later statements of a transaction find the row that the first one
    /// changed.
    std::string touched{};
    std::string bell{}; ///< user lock that a grant takes along, if it is free at once; empty: none
};

/// Returns the shortest attempt; it is tried first because most locks are free. It is not for
/// writers. Its insert id is that of a grant, or 0. If it is 0, the lock may be busy or its row may
/// be missing.
std::string lock_attempt_if_free(const tables&, const ask&, const attempt_terms&);

/// Returns one attempt to take the lock exclusively; its insert id is a `packed_answer`. A writer
/// is granted while there are no other readers; its own client's read hold that it upgrades
/// (`ask::under`) does not count.
std::string lock_attempt(const tables&, const ask&, const attempt_terms&);

/// Returns a statement that makes the row of a name that was not used yet. INSERT IGNORE would cut
/// a name that is too long, and two locks would be one.
std::string lock_row(const tables&, const lock_name&);

/// Returns the release. Its insert id is 0 if the owner does not hold the lock, 1 if the lease had
/// expired, and 2 if it had not. 4 is added if `bell`, which the release gives back, was taken by a
/// waiter at once. That waiter's attempt waits for the row until this release is committed.
std::string lock_release(const tables&, const hold&, std::string_view bell = {});

/// Returns a statement that releases only the user lock.
std::string bell_dropped(std::string_view bell);

} // namespace holdfast::mysql
