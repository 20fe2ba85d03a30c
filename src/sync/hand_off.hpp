// SPDX-License-Identifier: Apache-2.0
// Local hand-over: a hold passes from one call of this client to another without a request to the
// store.
#pragma once

#include "sync/gate.hpp"

#include <memory>

namespace holdfast::sync {

/// Passes on a hold that its owner no longer needs. The first waiter at the gate (local wait queue)
/// gets the hold without a request to the store. The limits of `options::hand_off` must allow it,
/// and the hold must fit the waiter's request. Returns true if the hold was passed on; it has then
/// ended for its old owner. Returns false if the caller must release it in the store.
bool hand_on(const std::shared_ptr<held_lock>&);

/// Returns a read hold of this client, and takes a share of it for the caller. Sends no request.
/// Returns null if the call must ask the store or wait. A hold is shared only within the limits of
/// `options::hand_off`, so that writers of other clients get their turn soon.
std::shared_ptr<held_lock> hold_to_share(const gate&, const acquisition&);

} // namespace holdfast::sync
