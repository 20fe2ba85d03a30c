// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/orphans.hpp"

#include "runtime/background.hpp"
#include "store/zookeeper/household.hpp"

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::zookeeper {
namespace {

/// First and longest pause between two rounds of deletions, in ms. The pause doubles while the
/// server fails.
constexpr duration orphans_first_pause{100}, orphans_longest_pause{5000};

} // namespace

void orphans::add(own_node node, bool asked_for) {
    if (!home_.lives(node))
        return;
    const auto same = [&](const entry& each) {
        return !each.unseen && below(each.parent, each.name) == node.path;
    };
    if (std::ranges::none_of(left_, same))
        left_.push_back({std::string{parent_of(node.path)}, std::string{last_part(node.path)},
                         false, asked_for});
    try_all();
}

void orphans::add_unseen(std::string parent, std::string prefix) {
    left_.push_back({std::move(parent), std::move(prefix), true});
    try_all();
}

bool orphans::take_deleted(const own_node& node) {
    return std::erase(deleted_, node.path) != 0;
}

void orphans::session_ended() {
    left_.clear();
    deleted_.clear();
    close();
}

void orphans::close() noexcept {
    if (wake_)
        wake_->ring();
}

bool orphans::can_try() const {
    return !left_.empty() && !home_.is_closed() && home_.at->state().connected;
}

void orphans::try_all() {
    if (trying_)
        return wake_->ring();
    if (!can_try())
        return;
    trying_ = true;
    if (!wake_)
        wake_ = home_.context.time.make_alarm();
    runtime::run_in_background(home_.context, keep_trying(home_.shared_from_this()));
}

asio::awaitable<void> orphans::keep_trying(std::shared_ptr<household> home) {
    for (duration pause = orphans_first_pause; can_try();
         pause = std::min(2 * pause, orphans_longest_pause)) {
        co_await try_each(*home);
        if (can_try())
            co_await wake_->wait_until(home->context.time.now() + pause);
    }
    trying_ = false;
}

asio::awaitable<void> orphans::try_each(household& home) {
    for (std::size_t left = left_.size(); left > 0 && !left_.empty(); --left) {
        // Take the entry out of the list, because the list may be cleared during the request.
        const entry one = left_.front();
        left_.pop_front();
        const std::int64_t session = home.at->state().id;
        bool again = false;
        try {
            co_await try_one(one);
        } catch (const boost::system::system_error&) {
            again = home.at->state().id == session;
        }
        if (again)
            left_.push_back(one);
        else if (one.asked_for)
            deleted_.push_back(below(one.parent, one.name));
    }
}

asio::awaitable<void> orphans::try_one(entry one) {
    if (one.unseen)
        co_return co_await delete_unseen(home_, one.parent, one.name);
    std::string path = below(one.parent, one.name);
    co_await home_.at->remove(path);
}

asio::awaitable<std::vector<own_node>> find_unseen(household& home, std::string parent,
                                                   std::string prefix) {
    co_await home.at->sync(parent);
    const listing children = co_await home.at->list(parent);
    std::vector<own_node> found;
    if (!children)
        co_return found;
    for (const std::string& each : *children) {
        if (!each.starts_with(prefix))
            continue;
        std::string path = below(parent, each);
        const std::optional<node_data> node = co_await home.at->get(path);
        // Skip nodes of an earlier session. ZooKeeper deletes them when the earlier session
        // expires. They hold no lock of this client.
        if (node && node->stat.ephemeral_owner == home.at->state().id)
            found.emplace_back(std::move(path), node->stat.ephemeral_owner, node->stat.czxid);
    }
    std::ranges::sort(found, {}, &own_node::czxid);
    co_return found;
}

asio::awaitable<void> delete_unseen(household& home, std::string parent, std::string prefix) {
    const std::vector<own_node> found = co_await find_unseen(home, parent, prefix);
    for (const own_node& each : found)
        co_await home.at->remove(each.path);
}

} // namespace holdfast::zookeeper
