// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

namespace holdfast::sync {

/// Calls the handler. The executor rethrows an exception of the handler later, see run_users_own().
void tell(const engine&, release_handler, failure);

/// Ends one share of a hold, because a lease or a thread no longer needs the hold. After the last
/// share, the hold is released in the store. The release is repeated after every failure, until the
/// store has acknowledged it or has forgotten the hold.
///
/// The handler is called within `release_patience` plus one command timeout. If the server refuses
/// the release, the handler is called at once. Call it on the executor only. The requests run on
/// `where`, see engine::spawn().
void release(std::shared_ptr<wire_hold>, release_handler, const asio::any_io_executor& where);
void release(std::shared_ptr<wire_hold>, release_handler);

} // namespace holdfast::sync
