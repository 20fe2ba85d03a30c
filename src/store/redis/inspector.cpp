// SPDX-License-Identifier: Apache-2.0
#include "store/redis/inspector.hpp"

#include "store/redis/lock_finder.hpp"
#include "store/redis/lock_states.hpp"
#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace holdfast::redis {
namespace {

class release_watch final : public watch {
public:
    explicit release_watch(std::unique_ptr<hearing> ear)
        : ear_{std::move(ear)} {}

private:
    std::unique_ptr<hearing> ear_;
};

} // namespace

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

asio::awaitable<std::optional<lock_state>> lock_inspector::describe(lock_name name) {
    std::vector<std::string> one;
    one.push_back(std::move(name.text));
    std::vector<lock_state> found = co_await describe_locks(server_, std::move(one));
    if (found.empty())
        co_return std::nullopt;
    co_return std::move(found.front());
}

asio::awaitable<lock_list> lock_inspector::list(std::string pattern, std::size_t limit) {
    const found_names found = co_await find_locks(server_, std::move(pattern), limit);
    lock_list all{{}, found.complete};
    for (std::span<const std::string> rest{found.names}; !rest.empty();) {
        const auto some = rest.first(std::min(rest.size(), described_at_once_max));
        std::vector<std::string> batch{some.begin(), some.end()};
        rest = rest.subspan(some.size());
        std::vector<lock_state> described = co_await describe_locks(server_, std::move(batch));
        for (lock_state& each : described)
            if (each.kind != key_kind::other) // released or replaced meanwhile
                all.locks.push_back(std::move(each));
    }
    co_return all;
}

asio::awaitable<std::unique_ptr<watch>> lock_inspector::listen(lock_name name, alarm& wake) {
    std::unique_ptr<hearing> ear = server_.hear(lock_channel(name), wake);
    if (!co_await ear->confirmed(context_.time.now() + confirmation_patience))
        co_return nullptr;
    co_return std::make_unique<release_watch>(std::move(ear));
}

} // namespace holdfast::redis
