// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/sql.hpp"

#include <holdfast/counters.hpp>

#include <algorithm>
#include <limits>

namespace holdfast::mysql {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

std::string quoted(std::string_view first, std::string_view suffix) {
    std::string all = "`";
    for (const char each : first) {
        if (each == '`')
            all += '`';
        all += each;
    }
    return all.append(suffix).append("`");
}

/// Returns a 32-bit FNV-1a hash of the text. Each `round` has another start value. Only an attacker
/// can choose two names that have equal hashes in all rounds. The harm is small: a release of one
/// lock also wakes a waiter for the other lock.
std::uint32_t mixed(std::uint32_t round, std::string_view text) {
    std::uint32_t sum = 2166136261U ^ (round * 0x9e3779b9U);
    for (const char each : text) {
        sum ^= static_cast<unsigned char>(each);
        sum *= 16777619U;
        sum ^= sum >> 15U;
    }
    return sum;
}

} // namespace

tables::tables(std::string_view first)
    : locks{quoted(first, "")}
    , holds{quoted(first, "_hold")}
    , counters{quoted(first, "_counter")}
    , requests{quoted(first, "_request")}
    , identity{quoted(first, "_identity")} {}

std::string hex(std::string_view bytes) {
    std::string all = "X'";
    all.reserve(bytes.size() * 2 + 3);
    for (const char each : bytes) {
        const auto value = static_cast<unsigned char>(each);
        all += digits[value >> 4U];
        all += digits[value & 15U];
    }
    return all += '\'';
}

std::string bell_of(std::string_view schema, std::string_view table, const lock_name& name) {
    std::string text{schema};
    text.append(1, '\0').append(table).append(1, '\0').append(name.text);
    std::string bell = "hf:";
    for (std::uint32_t round = 0; round < 5; ++round)
        for (std::uint32_t sum = mixed(round, text), i = 0; i < 8; ++i, sum <<= 4U)
            bell += digits[sum >> 28U];
    return bell;
}

namespace {

// Names and owners are columns of bytes: they are case-sensitive, have no collation, and keep
// trailing blanks. The expiry of a new or free row is one hour in the past. It must not be a day in
// the past, because a sweep deletes rows that expired a day ago.

constexpr const char* lock_columns = R"(
  name    VARBINARY(255)  NOT NULL PRIMARY KEY,
  owner   VARBINARY(64)   NOT NULL DEFAULT '',
  kind    TINYINT         NOT NULL DEFAULT 0,
  expires DATETIME(6)     NOT NULL,
  token   BIGINT UNSIGNED NOT NULL DEFAULT 0,
  touched VARBINARY(96)   NOT NULL DEFAULT '',
  info    VARBINARY(255)  NOT NULL DEFAULT ''
)";

constexpr const char* hold_columns = R"(
  name    VARBINARY(255)  NOT NULL,
  kind    TINYINT         NOT NULL,
  owner   VARBINARY(64)   NOT NULL,
  expires DATETIME(6)     NOT NULL,
  token   BIGINT UNSIGNED NOT NULL DEFAULT 0,
  beside  VARBINARY(64)   NOT NULL DEFAULT '',
  info    VARBINARY(255)  NOT NULL DEFAULT '',
  PRIMARY KEY (name, kind, owner)
)";

constexpr const char* counter_columns = R"(
  name    VARBINARY(255)  NOT NULL,
  kind    TINYINT         NOT NULL,
  value   BIGINT          NULL,
  expires DATETIME(6)     NULL,
  token   BIGINT UNSIGNED NOT NULL DEFAULT 0,
  touched VARBINARY(96)   NOT NULL DEFAULT '',
  PRIMARY KEY (name, kind)
)";

constexpr const char* request_columns = R"(
  name    VARBINARY(255)  NOT NULL,
  kind    TINYINT         NOT NULL,
  request VARBINARY(64)   NOT NULL,
  done    TINYINT         NOT NULL,
  beyond  TINYINT         NOT NULL,
  value   BIGINT          NOT NULL,
  expires DATETIME(6)     NOT NULL,
  PRIMARY KEY (name, kind, request)
)";

constexpr const char* identity_columns = R"(
  one     TINYINT         NOT NULL PRIMARY KEY,
  id      VARBINARY(64)   NOT NULL
)";

std::string table(const std::string& name, const char* columns) {
    return "CREATE TABLE IF NOT EXISTS " + name + " (" + columns + ") ENGINE=InnoDB";
}

} // namespace

std::vector<std::string> making(const tables& named) {
    return {table(named.locks, lock_columns),
            table(named.holds, hold_columns),
            table(named.counters, counter_columns),
            table(named.requests, request_columns),
            table(named.identity, identity_columns),
            "INSERT INTO " + named.identity +
                " (one, id) SELECT 1, CAST(UUID() AS BINARY) FROM DUAL WHERE NOT EXISTS "
                "(SELECT 1 FROM " +
                named.identity + " AS already)"};
}

std::string ddl(const tables& named) {
    std::string all;
    for (const std::string& each : making(named))
        all.append(each).append(";\n");
    return all;
}

std::string late_after(const runtime::remote_clock& clock, time_point deadline) {
    if (!clock.known())
        return "0";
    const auto latest = clock.no_later_than(deadline);
    if (!latest) // the time is too far away to count in microseconds
        return std::to_string(std::numeric_limits<std::int64_t>::max());
    return std::to_string(std::max<std::int64_t>(latest->count(), 0));
}

std::string is_late(std::string_view late) {
    return std::string{runs_text}.append(">").append(late);
}

std::string end_of(duration lease_time) {
    return std::string{now_text}
        .append("+INTERVAL ")
        .append(std::to_string(std::chrono::microseconds{lease_time}.count()))
        .append(" MICROSECOND");
}

std::string refusing(std::string_view reason) {
    return std::string{"0*LAST_INSERT_ID(9223372036854775808+"}
        .append(runs_text)
        .append(" DIV 1000*1048576+")
        .append(reason)
        .append(")");
}

std::string left_until(std::string_view moment) {
    return "GREATEST(1,LEAST(" + std::to_string(longest_left) + ",1+TIMESTAMPDIFF(MICROSECOND," +
           std::string{now_text}.append(",").append(moment) + ") DIV 1000))";
}

std::string next_token(std::uint64_t block) {
    return "LAST_INSERT_ID(GREATEST(token,CAST(" + std::string{runs_text} + " AS UNSIGNED))+" +
           std::to_string(block) + ")";
}

std::string list_of(const std::vector<std::string>& values) {
    std::string all = "(";
    for (const std::string& each : values)
        all.append(all.size() > 1 ? "," : "").append(hex(each));
    return all += ')';
}

namespace {

remote::verdict verdict_for(std::uint64_t reason) {
    switch (reason) {
    case late_reason:
        return remote::verdict::late;
    case conflict_reason:
        return remote::verdict::conflict;
    case unfounded_reason:
        return remote::verdict::unfounded;
    default:
        return remote::verdict::busy;
    }
}

} // namespace

const char* other_kind_for(std::uint64_t reason) noexcept {
    switch (reason) {
    case mutex_reason:
        return words_for(lock_kind::plain);
    case shared_reason:
        return words_for(lock_kind::read);
    case permits_reason:
        return words_for(counter_kind::permits);
    case latch_reason:
        return words_for(counter_kind::latch);
    default:
        return nullptr;
    }
}

packed_answer taken_apart(std::uint64_t insert_id) {
    packed_answer all;
    all.no_row = insert_id == 0;
    if (insert_id < refused_bit) {
        all.said = all.no_row ? remote::verdict::busy : remote::verdict::granted;
        all.last_token = insert_id & ~bell_bit;
        all.has_bell = (insert_id & bell_bit) != 0;
        return all;
    }
    const std::uint64_t rest = insert_id - refused_bit;
    const std::uint64_t reason = rest & ((std::uint64_t{1} << reason_bits) - 1);
    all.said = verdict_for(reason);
    all.other_kind = other_kind_for(reason);
    all.server_now = std::chrono::milliseconds{rest >> reason_bits};
    if (all.said == remote::verdict::busy && reason < longest_left)
        all.left = duration{static_cast<duration::rep>(reason)};
    return all;
}

} // namespace holdfast::mysql
