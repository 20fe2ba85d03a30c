// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/counters.hpp>

namespace holdfast::sync {

class engine;

/// Passes released permits to waiting callers of this client, in their order, without a request to
/// the store. It does so only within the budget of `options::hand_off`, which counts from the last
/// grant or release in the store. A caller that needs more replicas than the release does not get
/// any.
///
/// Either all released permits are passed on, or none. So if a release is not carried out by the
/// store, it has had no effect. True: all were passed on.
bool pass_on(engine&, const counter_change& released);

} // namespace holdfast::sync
