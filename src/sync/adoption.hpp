// SPDX-License-Identifier: Apache-2.0
// Requests about holds that a client has detached (`lease::detach()`). Call the functions on the
// executor only. Each function repeats its request while the store does not reply, for at most
// `options::unavailable_timeout`.
#pragma once

#include "sync/lock_descriptor.hpp"
#include "sync/lock_handle.hpp"

#include <holdfast/ticket.hpp>

#include <memory>

namespace holdfast::sync {

/// Takes the ticket's hold over, and renews it from now on. Throws `lease_lost` if the ticket's
/// owner does not hold the lock.
asio::awaitable<std::shared_ptr<lock_handle>> adopt(std::shared_ptr<const lock_descriptor>, ticket);

/// Makes the ticket's hold last at least `length` from now. Returns false if the ticket's owner
/// does not hold the lock.
asio::awaitable<bool> renew_detached(std::shared_ptr<engine>, hold, duration length);

/// Releases the ticket's hold. Returns false if the ticket's owner did not hold the lock.
asio::awaitable<bool> release_detached(std::shared_ptr<engine>, hold);

} // namespace holdfast::sync
