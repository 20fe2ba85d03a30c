// SPDX-License-Identifier: Apache-2.0
// Formats the state of a lock as text for people and as JSON for programs.
#pragma once

#include <holdfast/inspection.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Formats a duration: `27.3s`, `4m10s`, `3h12m`, `5d3h`.
std::string in_words(holdfast::duration);

/// Returns the time in the format of `in_words`, or `-` if the time is not known.
std::string or_dash(const std::optional<holdfast::duration>&);

/// Returns whether the lock ends with its holder's session, as locks on ZooKeeper do. The remaining
/// time of another client's session is not known.
bool ends_with_session(const holdfast::lock_state&);

/// Returns the remaining lease in the format of `in_words`. If the lease never expires, or ends
/// with the holder's session, the text says so.
std::string left_in_words(const holdfast::lock_state&);

/// Formats a date as `2026-11-21 18:14`, in the time zone of this machine.
std::string date_in_words(std::chrono::seconds since_1970);
std::string date_in_short(std::chrono::seconds since_1970); ///< formats a date without the year

/// Describes an owner briefly, for use in a table: `web3:4711 make`, `Redisson 8743c9c0 thread 49`.
std::string owner_in_short(const holdfast::lock_owner&);

/// Describes an owner completely: `make, process 4711 on web3, 'till 3', there since …`.
std::string owner_in_words(const holdfast::lock_owner&);

/// Describes a waiter as `owner_in_words` describes an owner. The text also says how long the
/// waiter's entry in the queue lasts.
std::string waiter_in_words(const holdfast::lock_waiter&);

/// Returns for how long the lock has been held by the owner that has held it longest. The result is
/// empty if this time is not known.
std::optional<holdfast::duration> longest_hold(const holdfast::lock_state&);

/// Returns for how long the longest waiter has waited. The result is empty if this time is not
/// known.
std::optional<holdfast::duration> longest_wait(const holdfast::lock_state&);

/// Returns the number of known waiters: those in the lock's queue on the server, and those that
/// only their clients report.
std::size_t waiter_count(const holdfast::lock_state&);

/// Returns "lock", "fair lock" (if it has a queue), "read-write lock", "token lock" or "other".
std::string kind_in_words(const holdfast::lock_state&);

/// Describes the first owner, and counts the other owners: `web3:4711 make and 2 more`.
std::string owners_in_short(const holdfast::lock_state&);
std::string owners_in_words(const holdfast::lock_state&);

// Formats the state of a lock as JSON. The names of the fields are part of the interface
// (holdfast(1), OUTPUT FOR PROGRAMS).

/// Converts any bytes to a JSON string. Bytes that are not UTF-8 are replaced.
boost::json::string text_in_json(std::string_view);

/// Returns an object with the field `name`. If the name is not valid UTF-8, the object also has the
/// field `name_hex` with the exact bytes.
boost::json::object named(std::string_view name);

boost::json::object to_json(const holdfast::lock_state&);

/// Returns the JSON of a free lock: the same fields as for a held lock, but null or empty.
/// `last_token` is the last token of a fenced lock, or 0.
boost::json::object free_in_json(std::string_view name, std::uint64_t last_token);

boost::json::array texts_in_json(const std::vector<std::string>&);

/// Adds a list of the cluster's servers that could not be asked, unless the list is empty.
void add_unreachable(boost::json::object&, const std::vector<std::string>& servers);

/// Formats a date by RFC 3339, in UTC.
std::string date_in_json(std::chrono::seconds since_1970);

/// Writes the object to stdout, on one line. Escapes control characters.
void write_json(const boost::json::object&);

} // namespace cli
