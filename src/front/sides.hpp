// SPDX-License-Identifier: Apache-2.0
// The read side and the write side of a lock that can be shared. The holder of one side may request
// the other side in addition.
#pragma once

#include "front/guard.hpp"
#include "sync/subject.hpp"

#include <memory>

namespace holdfast::front {

/// Links the request to this thread's hold on the other side of the lock, if this thread has a hold
/// there. Throws in three cases. A reader requests the write side without an upgrade. A thread that
/// has no read hold upgrades. Or this thread's hold is lost.
void stand_beside_own_hold(sync::request&, bool upgrades);

/// Links the request to a hold that the caller passes. The hold must be on the other side of the
/// lock.
void stand_beside(sync::request&, const std::shared_ptr<sync::tenure>&);

} // namespace holdfast::front
