// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan.hpp"

#include <cstdint>

namespace holdfast::sim {

/// Draws a world with replicas and failovers.
plan draw_replicated(std::uint64_t seed);

} // namespace holdfast::sim
