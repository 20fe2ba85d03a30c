// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/held_lock.hpp"

#include <holdfast/lease.hpp>

namespace holdfast::support {

/// Returns the single hold of a lease of one lock.
inline const sync::held_lock& wire_hold_of(const lease& held) {
    return dynamic_cast<const sync::held_lock&>(*held.hold());
}

} // namespace holdfast::support
