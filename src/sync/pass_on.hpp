// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/counters.hpp>

namespace holdfast::sync {

class engine;

/// Passes released permits to waiting callers of this client in their order, without a request to
/// the store. Passes them only within the budget of `options::hand_off`, which counts from the last
/// grant or release in the store. A caller that needs confirmation by more replicas than the
/// release gets no permits.
///
/// Either all released permits are passed on, or none. So a release that the store does not carry
/// out has had no local effect either. Returns true if all were passed on.
bool pass_on(engine&, const counter_change& released);

} // namespace holdfast::sync
