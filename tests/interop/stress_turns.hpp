// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interop/crowd.hpp"
#include "interop/window.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::interop {

/// Behind the names of semaphores, and how many permits each has.
inline constexpr const char* seats = ":seats";
inline constexpr std::int64_t seats_there = 4;
inline constexpr const char* leased = ":leased"; ///< as many, each of them leased

/// Behind the names of rate limiters. Draws stay for so long that none comes and goes unseen, and
/// there are few enough that some are always waited for.
inline constexpr const char* rated = ":rate";
inline constexpr limit rate_there{30, std::chrono::seconds{2}};

/// Behind the names of latches. Nobody sets one in every other of these stretches.
inline constexpr const char* met_at = ":latch";
inline constexpr duration latches_rest = std::chrono::seconds{4};

/// Who takes part, and how it writes leased permits and draws: see `form_of`.
struct guest {
    party_kind kind;
    std::optional<std::string> form{};
};

/// Behind the names of leased permits and rate limiters in such a form. Whoever writes one cannot
/// read another, so JVMs of before 3.17 have names of their own, at which they meet some of ours
/// and no later JVM.
std::string in_form(const std::optional<std::string>& form);

/// How a guest takes locks and draws: all kinds that its version has, in all ways. Kinds that may
/// not meet under one name have names of their own: see `turn::suffix`.
std::vector<turn> stress_turns(const guest&);

/// Ways to take locks for whom a server may fail at any time: each is one call to take it and one
/// to release it. Some holds are so long that the fault falls into them.
std::vector<turn> turns_through_failover();

/// What a guest is told.
client_settings stress_settings(const guest&);

} // namespace holdfast::interop
