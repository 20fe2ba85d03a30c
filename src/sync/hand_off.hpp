// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/gate.hpp"

#include <memory>

namespace holdfast::sync {

/// Passes a hold that is no longer needed to the first waiter at its gate, without a request to the
/// store. It does so only within the budget of `options::hand_off`, and only if the hold fits the
/// waiter's request. Afterwards the hold has ended for its old owner. False: release it in the
/// store.
bool hand_on(const std::shared_ptr<wire_hold>&);

/// Returns a read hold of this client that the caller can share, and takes a share of it. No
/// request is sent. Null: the call must ask the store or wait. A hold is shared only within the
/// budget of `options::hand_off`, so that writers of other clients get their turn soon.
std::shared_ptr<wire_hold> hold_to_share(const gate&, const acquisition&);

} // namespace holdfast::sync
