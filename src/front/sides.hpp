// SPDX-License-Identifier: Apache-2.0
// A lock that can be shared has two sides, and who has the one may ask for the other on top of it.
#pragma once

#include "front/guard.hpp"
#include "sync/subject.hpp"

#include <memory>

namespace holdfast::front {

/// If this thread has a hold of the other side of the lock that is wanted, it is to stand beside
/// that. Throws what forbids it to ask: it reads, and would write without an upgrade; it would
/// upgrade, and does not read; or what it has is lost.
void stand_beside_own_hold(sync::request&, bool upgrades);

/// The same with a hold that a caller names, which must be of the other side.
void stand_beside(sync::request&, const std::shared_ptr<sync::tenure>&);

} // namespace holdfast::front
