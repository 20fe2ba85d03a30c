// SPDX-License-Identifier: Apache-2.0
// The insert id of an attempt is its whole answer, so one round trip is enough:
//
//     0                no such row
//     below 2^63       granted: bits 0 to 61 are the last token of the grant; bit 62 is set if this
//                      connection has the lock's user lock
//     otherwise        not granted: bits 20 to 62 are the server's clock in milliseconds; bits 0 to
//                      19 are the reason: 0 is "late", 1 to `longest_left` are the milliseconds
//                      that the lock stays busy, a greater value is one of the reasons below
#pragma once

#include "store/remote/attempts.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::mysql {

inline constexpr std::uint64_t refused_bit = std::uint64_t{1} << 63U;
inline constexpr std::uint64_t bell_bit = std::uint64_t{1} << 62U;
inline constexpr unsigned reason_bits = 20;

/// Reasons that are not a remaining time.
inline constexpr std::uint64_t late_reason = 0;
inline constexpr std::uint64_t longest_left = 1'048'569; ///< a remaining time of 17 minutes or more
// The next four reasons mean that another kind uses the name.
inline constexpr std::uint64_t mutex_reason = 1'048'570;
inline constexpr std::uint64_t shared_reason = 1'048'571;
inline constexpr std::uint64_t permits_reason = 1'048'572;
inline constexpr std::uint64_t latch_reason = 1'048'573;
inline constexpr std::uint64_t conflict_reason = 1'048'574;
inline constexpr std::uint64_t unfounded_reason = 1'048'575;

struct packed_answer {
    bool no_row = false;
    remote::verdict said{};
    /// remaining time of the holder, if busy; empty: very long, or unlimited
    std::optional<duration> left{};
    /// time of the server; zero: the answer does not contain it
    std::chrono::microseconds server_now{};
    std::uint64_t last_token = 0; ///< last token of the grant; valid if granted
    /// whether the connection holds the user lock; valid if granted
    bool has_bell = false;
    const char* other_kind = nullptr; ///< other kind that uses the name, in words; null: none
};

/// Returns the kind that the reason means, in words. Returns null if the reason does not mean a
/// kind.
const char* other_kind_for(std::uint64_t reason) noexcept;

packed_answer taken_apart(std::uint64_t insert_id);

} // namespace holdfast::mysql
