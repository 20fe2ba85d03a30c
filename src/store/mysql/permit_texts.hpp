// SPDX-License-Identifier: Apache-2.0
// SQL statements about held permits. The total is a counter (counter_texts.hpp). Each statement
// locks the counter's row first, so that the permits are counted one request after the other.
#pragma once

#include "store/mysql/lock_texts.hpp"
#include "store/mysql/names.hpp"

#include <holdfast/store.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// Returns the ids of the permits of a request or hold. Each id is one row.
std::vector<std::string> permit_rows(const hold&);

/// Returns one attempt, a transaction: all permits or none. Permits that the owner has already stay
/// its own. The UPDATE has the `packed_answer` as its insert id. If that is a grant, the INSERT
/// must have rows; otherwise the attempt was late.
std::vector<std::string> permit_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t permit_update_at = 1, permit_insert_at = 2;

/// Returns a transaction that releases permits. Its first DELETE has as many rows as permits were
/// held.
std::vector<std::string> permit_release(const tables&, const hold&);
inline constexpr std::size_t permit_delete_at = 2;

/// Returns the condition that as many permits as wanted are free now.
std::string permits_may_be_had(const tables&, const ask&);

} // namespace holdfast::mysql
