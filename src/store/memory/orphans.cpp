// SPDX-License-Identifier: Apache-2.0
#include "store/memory/orphans.hpp"

#include "runtime/background.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>

namespace holdfast::memory {
namespace {

/// Pause between two attempts, in ms.
constexpr duration orphans_pause{500};

asio::awaitable<release_answer> release_once(std::shared_ptr<link> way, hold what) {
    const request asked{verb::release, what.name.text, {&what, 1}};
    std::function<release_answer(server::state&)> execute = [what](server::state& server) {
        return server.release(what);
    };
    const auto got = co_await way->call(asked, std::move(execute));
    co_return got.said;
}

} // namespace

bool orphans::is_left(const hold& what) const {
    return std::ranges::any_of(left_, [&](const hold& each) { return each.owner == what.owner; });
}

void orphans::keep(const hold& what) {
    if (!link_->keeps_orphans() || link_->closed() || is_left(what))
        return;
    left_.push_back(what);
    runtime::run_in_background(context_, release(shared_from_this(), what));
}

void orphans::forget(const hold& what) {
    std::erase_if(left_, [&what](const hold& each) { return each.owner == what.owner; });
}

/// Repeats the release of one hold. Each hold has its own loop, so that an unanswered release does
/// not delay the other releases.
asio::awaitable<void> orphans::release(std::shared_ptr<orphans> self, hold what) {
    while (self->is_left(what) && !self->link_->closed()) {
        co_await self->link_->nap(orphans_pause);
        if (!self->is_left(what) || self->link_->closed())
            break;
        try {
            (void)co_await release_once(self->link_, what);
            self->forget(what);
        } catch (const boost::system::system_error&) {
            continue; // try again after the pause
        }
    }
}

asio::awaitable<release_answer> release_or_keep(std::shared_ptr<link> way,
                                                std::shared_ptr<orphans> left, hold what) {
    try {
        const release_answer said = co_await release_once(std::move(way), what);
        left->forget(what);
        co_return said;
    } catch (const boost::system::system_error&) {
        left->keep(what);
        throw;
    }
}

} // namespace holdfast::memory
