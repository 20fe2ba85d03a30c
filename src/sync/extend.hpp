// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/release.hpp"

namespace holdfast::sync {

/// Asks the store, once, to keep a hold for at least `length` from now. The executor only.
void extend(std::shared_ptr<wire_hold>, duration length, release_handler);

/// The same for as long as it lasts anyway, until so many replicas have confirmed that: it must
/// have more of them from now on.
void confirm(std::shared_ptr<wire_hold>, unsigned replicas, release_handler);

} // namespace holdfast::sync
