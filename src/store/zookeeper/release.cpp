// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/release.hpp"

#include "store/zookeeper/formats.hpp"

#include <boost/system/system_error.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::zookeeper {
namespace {

/// Limit for node numbers. If a released node has this number or a greater number, the path is
/// deleted when it is empty, so that the numbers begin again. The ensemble deletes empty paths too.
/// It checks only once a minute, and may never find the path empty.
constexpr std::int64_t number_of_the_old = std::int64_t{1} << 30;

/// Deletes the node. Returns whether the node existed before.
asio::awaitable<bool> delete_node(household& home, own_node node) {
    if (!home.lives(node))
        co_return false;
    std::string path = node.path;
    const session::removal got = co_await home.at->remove(std::move(path));
    co_return got == session::removal::removed || home.left_behind.take_deleted(node);
}

asio::awaitable<void> renew_numbers(household& home, std::string path) {
    const std::optional<std::int64_t> number = number_in(path);
    if (!number || *number < number_of_the_old)
        co_return;
    try {
        std::string above{parent_of(path)};
        co_await home.at->remove(std::move(above));
    } catch (const boost::system::system_error&) {
        // Ignored: the next release tries again.
    }
}

} // namespace

asio::awaitable<release_answer> release_nodes(std::shared_ptr<household> home, hold what) {
    const std::vector<own_node>* const kept = home->held.find(what);
    if (!kept)
        co_return release_answer{};
    const std::vector<own_node> nodes = *kept;
    bool all = true;
    try {
        for (const own_node& each : nodes) {
            const bool was_there = co_await delete_node(*home, each);
            all = all && was_there;
        }
    } catch (const boost::system::system_error&) {
        for (const own_node& each : nodes)
            home->left_behind.add(each, true);
        throw;
    }
    home->forget(what);
    co_await renew_numbers(*home, nodes.front().path);
    co_return release_answer{.was_ours = all};
}

} // namespace holdfast::zookeeper
