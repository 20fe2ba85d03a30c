// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/line.hpp"

#include "store/zookeeper/other_kinds.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace holdfast::zookeeper {
namespace {

line line_in(const std::string& path, const std::vector<std::string>& names) {
    const std::vector<contender> all = contenders_in(names);
    const std::vector<contender> holders = holders_among(all);
    line seen;
    for (const contender& each : holders) {
        seen.holders.push_back(below(path, each.node));
        (each.shares ? seen.shared : seen.alone) = true;
    }
    for (const contender& each : std::span{all}.subspan(holders.size()))
        seen.waiters.push_back(below(path, each.node));
    seen.of_pair = std::ranges::any_of(all, &contender::of_pair);
    seen.of_mutex = std::ranges::any_of(holders, &contender::of_mutex);
    seen.semaphore = is_semaphore(names);
    return seen;
}

/// Finds a writer that upgrades the only read hold. That writer holds the lock, although its node
/// is later in the queue.
asio::awaitable<void> see_upgrade(household& home, line& seen) {
    if (seen.alone || seen.holders.size() != 1 || seen.waiters.empty())
        co_return;
    const std::string first = seen.waiters.front();
    const std::optional<node_data> node = co_await home.at->get(first);
    const std::optional<told_owner> said = node ? owner_in_data(node->data) : std::nullopt;
    if (!said || said->above.empty() || said->above != last_part(seen.holders.front()))
        co_return;
    seen.holders.insert(seen.holders.begin(), first);
    seen.waiters.erase(seen.waiters.begin());
    seen.alone = true;
}

} // namespace

asio::awaitable<line> read_line(household& home, std::string path) {
    co_await home.at->sync(path);
    co_return co_await read_line_here(home, std::move(path));
}

asio::awaitable<line> read_line_here(household& home, std::string path) {
    const listing names = co_await home.at->list(path);
    if (!names)
        co_return line{};
    line seen = line_in(path, *names);
    co_await see_upgrade(home, seen);
    co_return seen;
}

asio::awaitable<std::vector<node_owner>> read_owners(household& home,
                                                     std::vector<std::string> nodes) {
    std::vector<node_owner> all;
    if (nodes.size() > owners_told_max)
        nodes.resize(owners_told_max);
    for (const std::string& each : nodes) {
        const std::optional<node_data> node = co_await home.at->get(each);
        if (!node)
            continue;
        node_owner one;
        one.said = owner_in_data(node->data).value_or(told_owner{});
        one.text = one.is_holdfast() ? one.said.owner : owner_in(last_part(each));
        one.token = static_cast<std::uint64_t>(node->stat.czxid);
        const std::optional<contender> its = contender_at(last_part(each));
        one.writes = its && its->of_pair && !its->shares;
        all.push_back(std::move(one));
    }
    co_return all;
}

} // namespace holdfast::zookeeper
