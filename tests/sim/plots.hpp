// SPDX-License-Identifier: Apache-2.0
// Worlds that are about something: what a mixture of everything would hardly ever bring together.
#pragma once

#include "sim/plan.hpp"

namespace holdfast::sim {

/// Most seeds stay as they are, some have more of everything, and some are about one thing.
/// Whether there is one plot that all of it is about.
bool draw_more(dice, plan&);

/// Which kind of lock each name is.
void draw_families(dice, plan&);

} // namespace holdfast::sim
