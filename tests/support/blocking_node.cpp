// SPDX-License-Identifier: Apache-2.0
#include "support/blocking_node.hpp"

#include <stdexcept>
#include <utility>
#include <variant>

namespace holdfast::support {
namespace {

std::string text_of(const redis::argument& value, const runtime::remote_clock& clock) {
    if (const auto* text = std::get_if<std::string_view>(&value))
        return std::string{*text};
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return std::to_string(*number);
    const auto moment = clock.no_later_than(std::get<redis::server_deadline>(value).at);
    return std::to_string(moment ? moment->count() : 0);
}

} // namespace

asio::awaitable<redis::reply> blocking_node::call(const redis::script& what,
                                                  std::span<const std::string_view> keys,
                                                  std::span<const redis::argument> arguments,
                                                  redis::call_options) {
    std::vector<std::string> words{"EVALSHA", std::string{what.sha1}, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    for (const redis::argument& each : arguments)
        words.push_back(text_of(each, *clock_));

    const time_point sent_at = time_.now();
    redis::reply answer = command_connection_.command(words);
    if (answer.text.starts_with("NOSCRIPT")) {
        words[0] = "EVAL";
        words[1] = what.text;
        answer = command_connection_.command(words);
    }
    if (answer.type == redis::reply::kind::error)
        throw std::runtime_error{std::string{what.name} + ": " + answer.text};
    answer.sent_at = sent_at;
    answer.received_at = time_.now();
    answer.clock = clock_;
    co_return answer;
}

class blocking_node::one_listener final : public redis::hearing {
public:
    one_listener(blocking_node& home, std::string channel, alarm& wake)
        : home_{home}
        , entry_{home.listeners_.emplace(std::move(channel), &wake)} {
        home_.subscriber_.subscribe(entry_->first);
    }
    ~one_listener() override { home_.listeners_.erase(entry_); }
    asio::awaitable<bool> confirmed(time_point) override { co_return true; }

private:
    blocking_node& home_;
    std::multimap<std::string, alarm*>::iterator entry_;
};

std::unique_ptr<redis::hearing> blocking_node::hear(redis::channel_name channel, alarm& wake,
                                                    redis::linger) {
    return std::make_unique<one_listener>(*this, std::move(channel.text), wake);
}

void blocking_node::deliver() {
    for (const message& heard : subscriber_.take()) {
        const auto [first, last] = listeners_.equal_range(heard.channel);
        for (auto each = first; each != last; ++each)
            each->second->ring();
    }
}

} // namespace holdfast::support
