// SPDX-License-Identifier: Apache-2.0
// The statements about permits that are held. How many there are is a counter
// (counter_texts.hpp), and its row is locked first: so they are counted one after the other.
#pragma once

#include "store/mysql/lock_texts.hpp"
#include "store/mysql/names.hpp"

#include <holdfast/store.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// The ids of what is asked for: each is a row.
std::vector<std::string> permit_rows(const hold&);

/// One attempt, a transaction: all of them or none. What it has of them already stays its own. Its
/// UPDATE has the `packed_answer` as its insert id, and the INSERT a row if it is granted and not
/// late.
std::vector<std::string> permit_attempt(const tables&, const ask&, const attempt_terms&);
inline constexpr std::size_t permit_update_at = 1, permit_insert_at = 2;

/// A transaction; its first DELETE has as many rows as were held.
std::vector<std::string> permit_release(const tables&, const hold&);
inline constexpr std::size_t permit_delete_at = 2;

/// A condition: so many are free now.
std::string permits_may_be_had(const tables&, const ask&);

} // namespace holdfast::mysql
