// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sync/release.hpp"

namespace holdfast::sync {

/// Asks the store, once, to keep a hold for at least `length` from now. Call it on the executor
/// only.
void extend(std::shared_ptr<wire_hold>, duration length, release_handler);

/// Asks the store to have the hold confirmed by `replicas` replicas for its remaining time.
/// Completes when they have confirmed. `replicas` must be more than before. From then on the hold
/// always needs `replicas` confirmations. Call it on the executor only.
void confirm(std::shared_ptr<wire_hold>, unsigned replicas, release_handler);

} // namespace holdfast::sync
