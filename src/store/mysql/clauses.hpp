// SPDX-License-Identifier: Apache-2.0
// SQL expressions that several statements share.
//
// There are two kinds of time. `now_text` is when the statement began. `runs_text` is when the
// server processes the row, perhaps after it waited for a row lock or stood still. Sessions have
// the time zone +00:00, so SYSDATE is UTC.
#pragma once

#include "runtime/remote_clock.hpp"
#include "store/mysql/names.hpp"

#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::mysql {

inline constexpr std::string_view now_text = "UTC_TIMESTAMP(6)";

/// Microseconds since 1970. UNIX_TIMESTAMP is not used, because it ends in 2038.
inline constexpr std::string_view runs_text = "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',SYSDATE(6))";

/// Condition after an attempt's UPDATE: the lock was granted. After an error or if no row matched,
/// LAST_INSERT_ID() has the value of an earlier statement; then `ROW_COUNT()` is not 1.
inline constexpr std::string_view was_granted = "LAST_INSERT_ID()<9223372036854775808";

/// Expiry of a row without a holder. It stays in the past even if the clock is set back by up to an
/// hour. An earlier time would let a sweep delete rows that were used today.
inline constexpr std::string_view past_text = "UTC_TIMESTAMP(6)-INTERVAL 1 HOUR";

/// Returns the deadline in microseconds of the server's clock. An attempt that the server runs
/// after this time is late. If the server's clock is unknown, the returned deadline makes every
/// attempt late; the answer then contains the server's time.
std::string late_after(const runtime::remote_clock&, time_point deadline);

/// Returns the condition that the server runs the statement after the deadline `late`.
std::string is_late(std::string_view late);

/// Returns the expiry of a lease that starts when the statement begins.
std::string end_of(duration lease_time);

/// Returns an expression with the value 0. It sets the insert id to a refusal with that reason
/// (packed_answer.hpp).
std::string refusing(std::string_view reason);

/// Returns an expression for the milliseconds until `moment`, as a reason for packed_answer.hpp.
std::string left_until(std::string_view moment);

/// Returns an expression for the last token of a block of `block` tokens. The expression also sets
/// the insert id to that token.
std::string next_token(std::uint64_t block);

/// Returns an SQL list such as "('a','b')", with hexadecimal literals for the values.
std::string list_of(const std::vector<std::string>& values);

} // namespace holdfast::mysql
