// SPDX-License-Identifier: Apache-2.0
// Draws the plans of two kinds of simulations: with holds that last as long as a session, and with
// replicas.
#pragma once

#include "sim/plan.hpp"

#include <cstdint>

namespace holdfast::sim {

/// Draws a plan in which the server keeps a hold as long as its client's session lives.
plan draw_by_session(std::uint64_t seed);

/// Draws a plan with replicas and failovers.
plan draw_replicated(std::uint64_t seed);

} // namespace holdfast::sim
