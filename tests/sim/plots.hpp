// SPDX-License-Identifier: Apache-2.0
// Worlds about one subject: combinations that a mixture of all faults would hardly ever produce.
#pragma once

#include "sim/plan.hpp"

namespace holdfast::sim {

/// Changes the plan: most seeds stay as they are, some get more of everything, and some get one
/// subject. Returns whether the world is about one subject.
bool draw_more(dice, plan&);

/// Chooses the kind of lock of each name.
void draw_families(dice, plan&);

} // namespace holdfast::sim
