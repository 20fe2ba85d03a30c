// SPDX-License-Identifier: Apache-2.0
// A lock that can be shared has two sides, and who has the one may ask for the other on top of it.
#pragma once

#include "front/guard.hpp"
#include "sync/subject.hpp"

#include <memory>

namespace holdfast::front {

/// The hold that this thread has on the other side of that lock, to stand beside which it asks;
/// null: none. Throws what forbids it to ask: it reads, and would write without an upgrade; it
/// would upgrade, and does not read; or what it has is lost.
std::shared_ptr<sync::wire_hold> own_hold_beside(const sync::subject&, bool upgrades);

/// The same of a hold that a caller names.
std::shared_ptr<sync::wire_hold> hold_beside(const sync::subject&,
                                             const std::shared_ptr<sync::tenure>&);

} // namespace holdfast::front
