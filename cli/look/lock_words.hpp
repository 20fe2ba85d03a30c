// SPDX-License-Identifier: Apache-2.0
// What is known of a lock, in words for people.
#pragma once

#include <holdfast/inspection.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace cli {

/// `27.3s`, `4m10s`, `3h12m`, `5d3h`.
std::string in_words(holdfast::duration);

/// Whether it is of ZooKeeper, where nobody is told how long a holder's session will last.
bool ends_with_session(const holdfast::lock_state&);

/// Of its lease: as above, or that it has no end, or whose end it is.
std::string left_in_words(const holdfast::lock_state&);

/// `2026-11-21 18:14`, on this machine's clock and in its zone.
std::string date_in_words(std::chrono::seconds since_1970);
std::string date_in_short(std::chrono::seconds since_1970); ///< without the year

/// Short enough for a table: `web3:4711 make`, `Redisson 8743c9c0 thread 49`.
std::string owner_in_short(const holdfast::lock_owner&);

/// All of it: `make, process 4711 on web3, 'till 3', there since …`.
std::string owner_in_words(const holdfast::lock_owner&);

/// Likewise, and how long its place lasts.
std::string waiter_in_words(const holdfast::lock_waiter&);

/// "lock", "fair lock" if there is a queue, "read-write lock", "token lock",
/// "other".
std::string kind_in_words(const holdfast::lock_state&);

/// The first of its owners, and how many more there are: `web3:4711 make and 2 more`.
std::string owners_in_short(const holdfast::lock_state&);
std::string owners_in_words(const holdfast::lock_state&);

} // namespace cli
