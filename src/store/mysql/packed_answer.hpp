// SPDX-License-Identifier: Apache-2.0
// The insert id of an attempt is its whole answer, so one round trip tells all:
//
//     0                no such row
//     below 2^63       granted: bits 0 to 61 are the last of the grant's tokens; bit 62: and this
//                      connection has the lock's bell
//     else             not granted: bits 20 to 62 are the server's clock in milliseconds, bits 0 to
//                      19 why: 0 late, up to `longest_left` the milliseconds that are left of what
//                      keeps it busy, else a reason below
#pragma once

#include "store/remote/attempts.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::mysql {

inline constexpr std::uint64_t refused_bit = std::uint64_t{1} << 63U;
inline constexpr std::uint64_t bell_bit = std::uint64_t{1} << 62U;
inline constexpr unsigned reason_bits = 20;

/// The reasons that are no length of time.
inline constexpr std::uint64_t late_reason = 0;
inline constexpr std::uint64_t longest_left = 1'048'569; ///< or more: 17 minutes
// Another kind has the name.
inline constexpr std::uint64_t mutex_reason = 1'048'570;
inline constexpr std::uint64_t shared_reason = 1'048'571;
inline constexpr std::uint64_t permits_reason = 1'048'572;
inline constexpr std::uint64_t latch_reason = 1'048'573;
inline constexpr std::uint64_t conflict_reason = 1'048'574;
inline constexpr std::uint64_t unfounded_reason = 1'048'575;

struct packed_answer {
    bool no_row = false;
    remote::verdict said{};
    std::optional<duration> left{};         ///< busy; nothing: for long, or without end
    std::chrono::microseconds server_now{}; ///< zero: it does not tell
    std::uint64_t last_token = 0;           ///< granted
    bool has_bell = false;                  ///< granted
    const char* other_kind = nullptr;       ///< in words, what has the name; null: no other kind
};

/// Returns the name of the kind that the reason stands for. Null: it stands for no kind.
const char* other_kind_for(std::uint64_t reason) noexcept;

packed_answer taken_apart(std::uint64_t insert_id);

} // namespace holdfast::mysql
