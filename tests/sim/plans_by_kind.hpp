// SPDX-License-Identifier: Apache-2.0
// Draws worlds of two kinds: worlds in which holds last as long as sessions, and worlds with
// replicas.
#pragma once

#include "sim/plan.hpp"

#include <cstdint>

namespace holdfast::sim {

/// Draws a world with sessions: the server keeps holds as long as their client's session lives.
plan draw_by_session(std::uint64_t seed);

/// Draws a world with replicas and failovers.
plan draw_replicated(std::uint64_t seed);

} // namespace holdfast::sim
