// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interop/crowd.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::interop {

/// Behind the names of semaphores, and how many permits each has.
inline constexpr const char* seats = ":seats";
inline constexpr std::int64_t seats_there = 4;
inline constexpr const char* leased = ":leased"; ///< as many, each of them leased

/// How a party of the stress takes locks: all kinds that its version has, in all ways. Kinds that
/// may not meet under one name have names of their own: see `turn::suffix`.
std::vector<turn> stress_turns(const std::string& redisson); ///< empty: ours

/// What all parties of the stress are told.
client_settings stress_settings();

} // namespace holdfast::interop
