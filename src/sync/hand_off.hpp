// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/gate.hpp"

#include <memory>

namespace holdfast::sync {

/// Passes a hold that nobody has any use for to who waits first at its gate, without a word to the
/// store: within the budget of `options::hand_off`, and only to who can be given what it asked for.
/// False: it must be released. Afterwards the hold has ended for those who had it.
bool hand_on(const std::shared_ptr<wire_hold>&);

/// A read hold of this client that the caller may have too, without a word to the store; it has a
/// share of it then. Null: it goes to the store, or waits. A hold is shared anew for as long as one
/// is handed on, so that each client meets the writers of others there, soon.
std::shared_ptr<wire_hold> hold_to_share(const gate&, const acquisition&);

} // namespace holdfast::sync
