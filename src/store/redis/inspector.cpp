// SPDX-License-Identifier: Apache-2.0
#include "store/redis/inspector.hpp"

#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

namespace holdfast::redis {

asio::awaitable<std::optional<holding>> lock_inspector::inspect(lock_name name) {
    const std::string_view keys[] = {name.text};
    const reply answer = co_await server_.call(scripts::inspect_lock, keys, {});

    const std::vector<reply>& said = items(answer);
    if (said.empty())
        co_return std::nullopt;
    holding found;
    if (const std::int64_t left = integer(said.front()); left >= 0)
        found.remaining = duration{left};
    for (auto owner = said.begin() + 1; owner != said.end(); ++owner)
        found.owners.push_back(owner->text);
    co_return found;
}

asio::awaitable<bool> lock_inspector::force_release(lock_name name) {
    const channel_name channel = lock_channel(name);
    const std::string_view keys[] = {name.text};
    const argument arguments[] = {channel.text, publish_command};
    const reply answer = co_await server_.call(scripts::force_release, keys, arguments);
    co_return integer(answer) == 1;
}

} // namespace holdfast::redis
