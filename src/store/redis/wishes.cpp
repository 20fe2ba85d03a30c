// SPDX-License-Identifier: Apache-2.0
#include "store/redis/wishes.hpp"

#include "store/redis/names.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/scripts.hpp"

#include <string_view>
#include <utility>

namespace holdfast::redis {
namespace {

class wish_watch final : public watch {
public:
    explicit wish_watch(std::unique_ptr<hearing> subscriber)
        : subscriber_{std::move(subscriber)} {}

private:
    std::unique_ptr<hearing> subscriber_;
};

std::vector<std::string> owners_in(const reply& said) {
    std::vector<std::string> owners;
    for (const reply& each : items(said))
        owners.push_back(text(each));
    return owners;
}

std::optional<wish> wish_in(const reply& said) {
    const std::vector<reply>& words = items(said);
    if (words.empty())
        return std::nullopt;
    if (words.size() != 2)
        throw_unexpected_answer();
    return wish{text(words[1]), text(words[0])};
}

} // namespace

asio::awaitable<std::vector<std::string>> redis_wishes::ask_holders(lock_name name, wish what,
                                                                    duration kept) {
    const std::string key = wish_key(name);
    const std::string channel = wish_channel(name).text;
    const std::string_view keys[] = {name.text, key};
    const publishing way = server_.telling_commands();
    const argument arguments[] = {std::string_view{what.reason},
                                  std::string_view{what.from},
                                  kept.count(),
                                  way.command,
                                  std::string_view{channel},
                                  way.other};
    const reply answer =
        co_await server_.call(scripts::ask_holders, keys, telling_by(way, arguments));
    co_return checked(server_, answer, owners_in);
}

asio::awaitable<std::optional<wish>> redis_wishes::wish_for(hold held) {
    const std::string key = wish_key(held.name);
    const std::string owner = to_string(held.owner);
    const std::string_view keys[] = {key};
    const argument arguments[] = {std::string_view{owner}};
    const reply answer = co_await server_.call(scripts::read_wish, keys, arguments);
    co_return checked(server_, answer, wish_in);
}

asio::awaitable<std::unique_ptr<watch>> redis_wishes::hear_wishes(hold held, alarm& wake) {
    std::unique_ptr<hearing> subscriber = server_.hear(wish_channel(held.name), wake, linger::none);
    // Continue without a confirmation. The caller polls in any case, and a later confirmation rings
    // the alarm.
    (void)co_await subscriber->confirmed(context_.time.now() + confirmation_timeout);
    co_return std::make_unique<wish_watch>(std::move(subscriber));
}

} // namespace holdfast::redis
