// SPDX-License-Identifier: Apache-2.0
// The parts that several statements have in common.
//
// Two times are told apart. `now_text` is when the statement began, `runs_text` when the server
// comes to that row: perhaps after it has waited behind somebody's row lock, or stood still.
// Sessions have the time zone +00:00, which makes SYSDATE UTC.
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

/// Microseconds since 1970. UNIX_TIMESTAMP would end in 2038.
inline constexpr std::string_view runs_text = "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',SYSDATE(6))";

/// After an attempt: it was granted. Behind an error or without a row the value is an older one:
/// then `ROW_COUNT()` is not 1.
inline constexpr std::string_view was_granted = "LAST_INSERT_ID()<9223372036854775808";

/// What rows have that nobody holds: the past, whatever the clock does next; and not so long ago
/// that a sweep takes what was used today.
inline constexpr std::string_view past_text = "UTC_TIMESTAMP(6)-INTERVAL 1 HOUR";

/// What is done later than this moment is late: in microseconds of the server's clock. An unknown
/// clock makes it late in any case, and the answer tells the time.
std::string late_after(const runtime::remote_clock&, time_point deadline);

/// "it is late now".
std::string is_late(std::string_view late);

/// That long from the statement's begin.
std::string end_of(duration lease_time);

/// Sets the insert id to a refusal of that reason (packed_answer.hpp), and is 0.
std::string refusing(std::string_view reason);

/// The milliseconds until then, as a reason.
std::string left_until(std::string_view moment);

/// Sets the insert id to the last token of a block of so many, and is that.
std::string next_token(std::uint64_t block);

/// "('a','b')", of hexadecimal literals.
std::string list_of(const std::vector<std::string>& values);

} // namespace holdfast::mysql
