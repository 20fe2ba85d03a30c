// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/acquisition.hpp"

namespace holdfast::sync {

/// Tells it, whatever it throws: see run_users_own().
void tell(const engine&, release_handler, failure);

/// One lease or thread has no more use for the hold; the last one's leaving releases it. The
/// handler hears within `release_patience` and one command timeout, and at once if the server says
/// that it will not do it; the release is repeated until the store has acknowledged it or forgotten
/// the hold, whatever it fails with. The executor only; what is asked of the store is asked on
/// `where`, see engine::spawn().
void release(std::shared_ptr<wire_hold>, release_handler, const asio::any_io_executor& where);
void release(std::shared_ptr<wire_hold>, release_handler);

} // namespace holdfast::sync
