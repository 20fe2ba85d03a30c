// SPDX-License-Identifier: Apache-2.0
#include "compose/part.hpp"

#include "sync/engine.hpp"

namespace holdfast::compose {
namespace {

/// Drops the share, and then releases the whole hold without waiting.
void release_unwatched(std::shared_ptr<sync::tenure> share) {
    std::shared_ptr<sync::tenure> held = share->whole();
    share.reset();
    held->release(sync::release_handler{[](const sync::failure&) {}}, held->home->executor());
}

} // namespace

part::~part() {
    if (!held_ || held_->home->forked())
        return;
    const std::shared_ptr<sync::engine> home = held_->home;
    (void)home->reach().post(
        [share = std::move(held_)]() mutable { release_unwatched(std::move(share)); });
}

} // namespace holdfast::compose
