// SPDX-License-Identifier: Apache-2.0
// Functions that write tables, values, times and user locks as SQL (docs/protocol/mysql.md). Also
// the statements that create the tables, and the type `packed_answer`, which reads the answer to an
// attempt from a number.
#pragma once

#include "runtime/remote_clock.hpp"
#include "store/remote/attempts.hpp"

#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::mysql {

/// Names of the tables, in quotes.
struct tables {
    /// Creates the names of the tables. `first` is the name of the table of locks. The other names
    /// begin with `first`.
    explicit tables(std::string_view first);

    std::string locks; ///< one row for each lock: exclusive holder, expiry, last token
    /// Table with one row for each reader, waiting writer, permit, and waiter of a fair lock.
    std::string holds;
    std::string counters; ///< one row for each semaphore and latch
    std::string requests; ///< recent changes of counters, with their outcomes
    std::string identity; ///< one row: the identity of the schema's data
};

/// Returns the bytes as a hexadecimal literal such as `X'6162'`, which needs no escaping in any
/// character set or sql_mode.
std::string hex(std::string_view bytes);

/// Returns the name of the user lock (GET_LOCK) that notifies the lock's waiters. The name has 43
/// characters, which every server allows. The name contains a hash of the schema, because all
/// schemas of a server share the user locks.
std::string bell_of(std::string_view schema, std::string_view table, const lock_name&);

/// Returns the statements that create the missing tables and insert the missing row of the
/// identity. The statements change nothing else.
std::vector<std::string> making(const tables&);

/// Returns the statements that create the tables and the row of the identity, as text for
/// administrators. Each statement ends with a semicolon and a line break.
std::string ddl(const tables&);

// SQL expressions that several statements share.
//
// `now_text` is the time when the statement began. `runs_text` is the time when the server
// processes the row. These times differ if the statement waited for a row lock. Sessions have the
// time zone +00:00, so SYSDATE is UTC.

inline constexpr std::string_view now_text = "UTC_TIMESTAMP(6)";

/// SQL expression for the microseconds since 1970. UNIX_TIMESTAMP is not used, because its range
/// ends in 2038.
inline constexpr std::string_view runs_text = "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',SYSDATE(6))";

/// SQL condition, after an attempt's UPDATE, that the lock was granted. Also check that
/// `ROW_COUNT()` is 1. If it is not, the UPDATE has failed or matched no row, and LAST_INSERT_ID()
/// still has the value of an earlier statement.
inline constexpr std::string_view was_granted = "LAST_INSERT_ID()<9223372036854775808";

/// Expiry of a row without a holder. It is one hour in the past, so it stays in the past even if
/// the clock is set back by up to an hour. It must not be a day in the past, because a sweep
/// deletes rows that expired a day ago.
inline constexpr std::string_view past_text = "UTC_TIMESTAMP(6)-INTERVAL 1 HOUR";

/// Returns the deadline of an attempt, in microseconds of the server's clock. If the server runs
/// the attempt after this time, the attempt is late. If the client does not know the server's clock
/// yet, the result makes every attempt late. The answer to a late attempt contains the server's
/// time.
std::string late_after(const runtime::remote_clock&, time_point deadline);

/// Returns the SQL condition that the statement runs after the deadline `late`.
std::string is_late(std::string_view late);

/// Returns the expiry of a lease that starts when the statement begins.
std::string end_of(duration lease_time);

/// Returns an SQL expression that refuses an attempt for this reason. Its value is 0. As a side
/// effect, it sets the insert id, which is the answer to the attempt (`packed_answer`).
std::string refusing(std::string_view reason);

/// Returns an SQL expression for the milliseconds until `moment`. A refusal may contain this time
/// as its reason.
std::string left_until(std::string_view moment);

/// Returns an SQL expression for the fencing token of a grant. If a grant has several tokens
/// (`block`), it is the last of them. As a side effect, the expression sets the insert id to this
/// token.
std::string next_token(std::uint64_t block);

/// Returns an SQL list such as ('a','b'), with hexadecimal literals as its values.
std::string list_of(const std::vector<std::string>& values);

// The insert id of an attempt is its whole answer, so one round trip is enough:
//
//     0                no such row
//     below 2^63       granted: bits 0 to 61 are the last token of the grant; bit 62 is set if this
//                      connection has the lock's user lock
//     otherwise        not granted: bits 20 to 62 are the server's clock in milliseconds; bits 0 to
//                      19 are the reason: 0 is "late", 1 to `longest_left` are the milliseconds
//                      that the lock stays busy, a greater value is one of the reasons below

inline constexpr std::uint64_t refused_bit = std::uint64_t{1} << 63U;
inline constexpr std::uint64_t bell_bit = std::uint64_t{1} << 62U;
inline constexpr unsigned reason_bits = 20;

/// Reasons that are not a remaining time.
inline constexpr std::uint64_t late_reason = 0;
inline constexpr std::uint64_t longest_left = 1'048'569; ///< a remaining time of 17 minutes or more
// Reasons of a refusal which mean that another kind of lock or counter uses the name.
inline constexpr std::uint64_t mutex_reason = 1'048'570;
inline constexpr std::uint64_t shared_reason = 1'048'571;
inline constexpr std::uint64_t permits_reason = 1'048'572;
inline constexpr std::uint64_t latch_reason = 1'048'573;
inline constexpr std::uint64_t conflict_reason = 1'048'574;
inline constexpr std::uint64_t unfounded_reason = 1'048'575;

struct packed_answer {
    bool no_row = false;
    remote::verdict said{};
    /// If the lock is busy: remaining lease of the holder. Empty if this lease is very long or
    /// never ends.
    std::optional<duration> left{};
    /// Time of the server's clock. Zero if the answer does not contain this time.
    std::chrono::microseconds server_now{};
    std::uint64_t last_token = 0; ///< if granted: the last token of the grant
    /// True if this connection also has the lock's user lock (GET_LOCK). Set only if the lock was
    /// granted.
    bool has_bell = false;
    /// If another kind of lock or counter uses the name: this kind, as text for messages. Otherwise
    /// null.
    const char* other_kind = nullptr;
};

/// Returns the kind of lock or counter that the reason stands for, as text for messages. Returns
/// null if the reason stands for something else.
const char* other_kind_for(std::uint64_t reason) noexcept;

packed_answer taken_apart(std::uint64_t insert_id);

} // namespace holdfast::mysql
