// SPDX-License-Identifier: Apache-2.0
// Formats the state of a lock as text.
#pragma once

#include <holdfast/inspection.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace cli {

/// Formats a duration: `27.3s`, `4m10s`, `3h12m`, `5d3h`.
std::string in_words(holdfast::duration);

/// Returns whether the lock ends with a session, which is so on ZooKeeper. There a client cannot
/// find out how long another client's session will last.
bool ends_with_session(const holdfast::lock_state&);

/// Returns the remaining lease, formatted by `in_words`. If the lease has no end, or ends with the
/// holder's session, the text says so.
std::string left_in_words(const holdfast::lock_state&);

/// Formats a date as `2026-11-21 18:14`, in the time zone of this machine.
std::string date_in_words(std::chrono::seconds since_1970);
std::string date_in_short(std::chrono::seconds since_1970); ///< formats a date without the year

/// Describes an owner briefly, for use in a table: `web3:4711 make`, `Redisson 8743c9c0 thread 49`.
std::string owner_in_short(const holdfast::lock_owner&);

/// Describes an owner completely: `make, process 4711 on web3, 'till 3', there since …`.
std::string owner_in_words(const holdfast::lock_owner&);

/// Describes a waiter: see `owner_in_words`. Adds how long its entry in the queue lasts.
std::string waiter_in_words(const holdfast::lock_waiter&);

/// Returns "lock", "fair lock" (if it has a queue), "read-write lock", "token lock" or "other".
std::string kind_in_words(const holdfast::lock_state&);

/// Describes the first owner, and counts the other owners: `web3:4711 make and 2 more`.
std::string owners_in_short(const holdfast::lock_state&);
std::string owners_in_words(const holdfast::lock_state&);

} // namespace cli
