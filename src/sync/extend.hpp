// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/release.hpp"

namespace holdfast::sync {

/// Asks the store, once, to keep a hold for at least `length` from now. Executor only.
void extend(std::shared_ptr<wire_hold>, duration length, release_handler);

/// Asks so many replicas to confirm the hold for its present term, and completes when they have.
/// They must be more than before; the hold needs that many from now on. Executor only.
void confirm(std::shared_ptr<wire_hold>, unsigned replicas, release_handler);

} // namespace holdfast::sync
