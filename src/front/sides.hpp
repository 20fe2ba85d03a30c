// SPDX-License-Identifier: Apache-2.0
// The two sides of a lock that can be shared: reading and writing. A holder of one side may ask for
// the other side on top of it.
#pragma once

#include "front/guard.hpp"
#include "sync/subject.hpp"

#include <memory>

namespace holdfast::front {

/// Links the request to this thread's hold on the other side of the lock, if it has one. Throws if
/// the request is forbidden: a reader wants to write without an upgrade, a thread upgrades that
/// does not read, or its hold is lost.
void stand_beside_own_hold(sync::request&, bool upgrades);

/// Links the request to a hold that the caller names. It must be on the other side of the lock.
void stand_beside(sync::request&, const std::shared_ptr<sync::tenure>&);

} // namespace holdfast::front
