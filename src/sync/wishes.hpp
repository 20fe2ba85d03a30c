// SPDX-License-Identifier: Apache-2.0
// Listener for wishes: other programs ask the holder of a lock to release it soon
// (`lease::asked()`). Each hold whose asked() was called has one coroutine. Other holds cost
// nothing.
#pragma once

#include "sync/held_lock.hpp"

#include <memory>

namespace holdfast::sync {

/// Starts the coroutine that listens for wishes for this hold. The coroutine subscribes to wishes.
/// It reads the stored wish at once, after each notification, and after each third of the lease. It
/// ends after a wish, or when the hold ends. Does nothing if the store has no wishes. Call this
/// function on the executor only.
void listen_for_wishes(const std::shared_ptr<held_lock>&);

} // namespace holdfast::sync
