// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/gate.hpp"

namespace holdfast::sync {

/// Passes a hold that nobody has any use for to who waits first at its gate, without a word to the
/// store: within the budget of `options::hand_off`, and only to who can be given what it asked for.
/// False: it must be released. Afterwards the hold has ended for those who had it.
bool hand_on(const std::shared_ptr<wire_hold>&);

} // namespace holdfast::sync
