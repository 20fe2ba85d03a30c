// SPDX-License-Identifier: Apache-2.0
// Runs one simulation from its seed to its end, or to the first broken invariant.
#pragma once

#include "sim/plan.hpp"

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <set>
#include <string_view>

namespace holdfast::sim {

struct result {
    std::uint64_t seed = 0;
    std::uint64_t hash = 0; ///< hash of all events
    std::size_t events = 0;
    std::set<std::string_view> seen{}; ///< kinds of events that happened
    std::optional<violation> broken{};
};

enum class telling_of { nothing, failures, everything };

/// Runs the simulation of one seed. After a failure, writes to `out` the broken invariant, the
/// events, and the command that repeats the run.
result play(std::uint64_t seed, std::ostream& out, telling_of = telling_of::failures);
result play(const plan&, std::ostream& out, telling_of);

} // namespace holdfast::sim
