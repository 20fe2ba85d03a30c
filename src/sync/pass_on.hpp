// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/counters.hpp>

namespace holdfast::sync {

class engine;

/// Passes permits that are released to callers of this client who wait for some, the first ones
/// first, without a word to the store: within the budget of `options::hand_off`, counted from when
/// the store last granted or was sent some. All or none, so that a release that the store then does
/// not carry out has done nothing; and only to who wants no more replicas than whoever releases
/// them. True: all.
bool pass_on(engine&, const counter_change& released);

} // namespace holdfast::sync
