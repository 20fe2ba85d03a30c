// SPDX-License-Identifier: Apache-2.0
// Listens for the wishes of other programs that a holder release its lock soon (`lease::asked()`).
// Each hold whose asked() was called has one coroutine. Other holds cost nothing here.
#pragma once

#include "sync/held_lock.hpp"

#include <memory>

namespace holdfast::sync {

/// Starts the coroutine that listens for wishes for this hold. The coroutine subscribes to wishes,
/// and reads the stored wish at once, after each notification, and each third of the lease. It ends
/// after a wish, and when the hold ends. Does nothing if the store has no wishes. Call it on the
/// executor only.
void listen_for_wishes(const std::shared_ptr<held_lock>&);

} // namespace holdfast::sync
