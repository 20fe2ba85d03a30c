// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/release.hpp"

namespace holdfast::sync {

/// Asks the store, once, to keep a hold for at least `length` from now. The executor only.
void extend(std::shared_ptr<wire_hold>, duration length, release_handler);

} // namespace holdfast::sync
