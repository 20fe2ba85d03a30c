// SPDX-License-Identifier: Apache-2.0
#include "store/memory/orphans.hpp"

#include "runtime/background.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>

namespace holdfast::memory {
namespace {

/// Between two tries.
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

void orphans::keep(const hold& what) {
    const auto is_it = [&what](const hold& each) { return each.owner == what.owner; };
    if (!link_->is_by_session() || link_->closed() || std::ranges::any_of(left_, is_it))
        return;
    left_.push_back(what);
    if (!std::exchange(running_, true))
        runtime::run_in_background(context_, run(shared_from_this()));
}

void orphans::forget(const hold& what) {
    std::erase_if(left_, [&what](const hold& each) { return each.owner == what.owner; });
}

asio::awaitable<void> orphans::try_again(hold what) {
    try {
        (void)co_await release_once(link_, what);
        forget(what);
    } catch (const boost::system::system_error&) {
        co_return; // it stays for the next time
    }
}

asio::awaitable<void> orphans::run(std::shared_ptr<orphans> self) {
    while (!self->left_.empty() && !self->link_->closed()) {
        co_await self->link_->nap(orphans_pause);
        const std::vector<hold> tried = self->left_;
        for (const hold& each : tried) {
            if (self->link_->closed())
                break;
            co_await self->try_again(each);
        }
    }
    self->running_ = false;
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
