// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/plan.hpp"

namespace holdfast::sim {

/// Draws a world with sessions: the server keeps holds as long as their client's session lives.
plan draw_by_session(std::uint64_t seed);

} // namespace holdfast::sim
