// SPDX-License-Identifier: Apache-2.0
// Worlds about one subject: combinations that a mixture of all faults would hardly ever produce.
#pragma once

#include "sim/plan.hpp"

namespace holdfast::sim {

/// Changes the plan by chance. Most seeds stay the same, some get more of every event, and some get
/// a plot. Returns whether the seed has a plot.
bool draw_more(dice, plan&);

/// Chooses the kind of lock for each name.
void draw_families(dice, plan&);

} // namespace holdfast::sim
