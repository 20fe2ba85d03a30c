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

/// Returns the ids of the permits of a request or hold. Each permit is a row with its own id.
std::vector<std::string> permit_rows(const hold&);

/// Returns the statements of one attempt; they are a transaction. The attempt takes all wanted
/// permits or none. Permits that the owner already holds remain its own. The insert id of the
/// UPDATE is the `packed_answer`. If the answer is a grant, the INSERT must have inserted rows.
/// Otherwise the attempt was late.
std::vector<std::string> permit_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t permit_update_at = 1, permit_insert_at = 2;

/// Returns a transaction that releases permits. Its first DELETE removes one row for each permit
/// that was held.
std::vector<std::string> permit_release(const tables&, const hold&);
inline constexpr std::size_t permit_delete_at = 2;

/// Returns the condition that enough permits are free for the request.
std::string permits_may_be_had(const tables&, const ask&);

} // namespace holdfast::mysql
