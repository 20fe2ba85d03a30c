// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

namespace holdfast::sync {

/// Calls the handler. An exception from it ends nothing here: see run_users_own().
void tell(const engine&, release_handler, failure);

/// Ends one share of a hold: a lease or a thread no longer needs it. Ending the last share releases
/// the hold in the store. The release is repeated after every kind of failure, until the store has
/// acknowledged it or has forgotten the hold.
///
/// The handler is called within `release_patience` plus one command timeout, and at once if the
/// server refuses the release. Executor only; the requests run on `where`, see engine::spawn().
void release(std::shared_ptr<wire_hold>, release_handler, const asio::any_io_executor& where);
void release(std::shared_ptr<wire_hold>, release_handler);

} // namespace holdfast::sync
