// SPDX-License-Identifier: Apache-2.0
// The statements about what one owner has alone: mutexes of all kinds, and the writer's side.
#pragma once

#include "store/mysql/names.hpp"

#include <holdfast/store.hpp>

#include <string>
#include <string_view>

namespace holdfast::mysql {

/// Column `kind` of the table of locks: which kind had the name last. Only where it is `exclusive`
/// and the row is free, a mutex may be granted without a look at the other tables.
enum class kind_column : int { exclusive = 0, shared = 1, counter = 2 };

kind_column kind_in_row(lock_kind) noexcept;

/// What an attempt needs beside what is asked for.
struct attempt_terms {
    std::string late;      ///< as `late_after` has it
    std::string info{};    ///< who that is, for people
    std::string touched{}; ///< used once: by it the rest of a transaction finds what its begin did
    std::string bell{};    ///< a grant takes that one along, if it can be had at once
};

/// The shortest attempt of one that is no writer, for most locks are free: its insert id is that of
/// a grant, or 0, which says nothing else.
std::string lock_attempt_if_free(const tables&, const ask&, const attempt_terms&);

/// One attempt to have it alone; its insert id is a `packed_answer`. Of kind write: while nobody
/// reads, but the owner that it stands beside.
std::string lock_attempt(const tables&, const ask&, const attempt_terms&);

/// A row for a name that nobody has used yet. It is not "INSERT IGNORE": that cuts a name that is
/// too long, and two locks would be one.
std::string lock_row(const tables&, const lock_name&);

/// Its insert id: 0, it is not this owner's; 1, the lease was over; 2, it was not. 4 is added if
/// the bell of that name, which goes back with the lock, is somebody else's now. That one's attempt
/// waits for the row until this is committed.
std::string lock_release(const tables&, const hold&, std::string_view bell = {});

/// Gives it back alone.
std::string bell_dropped(std::string_view bell);

} // namespace holdfast::mysql
