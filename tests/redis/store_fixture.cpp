// SPDX-License-Identifier: Apache-2.0
#include "store_fixture.hpp"

#include <algorithm>

namespace holdfast {
namespace {

scripted_node::request copy_of(const redis::script& what, std::span<const std::string_view> keys,
                               std::span<const redis::argument> arguments, time_point now) {
    scripted_node::request made{std::string{what.name}, {keys.begin(), keys.end()}, {}};
    made.at = now;
    for (const redis::argument& each : arguments) {
        if (const auto* text = std::get_if<std::string_view>(&each)) {
            made.words.emplace_back(*text);
        } else if (const auto* number = std::get_if<std::int64_t>(&each)) {
            made.words.push_back(std::to_string(*number));
        } else {
            made.deadline = std::get<redis::server_deadline>(each).at;
            made.deadline_of_call = std::get<redis::server_deadline>(each).of_call;
        }
    }
    return made;
}

} // namespace

void scripted_node::will_answer(const std::vector<std::int64_t>& integers, duration takes) {
    outcome next{.answer = array_of(integers), .takes = takes};
    next.answer.clock = clock_;
    outcomes_.push_back(std::move(next));
}

redis::reply scripted_node::array_of(const std::vector<std::int64_t>& integers) {
    redis::reply made;
    made.type = redis::reply::kind::array;
    for (const std::int64_t value : integers) {
        redis::reply& item = made.items.emplace_back();
        item.type = redis::reply::kind::integer;
        item.integer = value;
    }
    return made;
}

void scripted_node::will_fail(error_code why, duration takes) {
    outcome next;
    next.failure = why;
    next.takes = takes;
    outcomes_.push_back(std::move(next));
}

asio::awaitable<redis::reply> scripted_node::call(const redis::script& what,
                                                  std::span<const std::string_view> keys,
                                                  std::span<const redis::argument> arguments,
                                                  redis::call_options options) {
    asked.push_back(copy_of(what, keys, arguments, time_.now()));
    asked.back().options = options;
    outcome next = next_outcome(asked.back());

    in_flight_max = std::max(in_flight_max, ++in_flight_);
    next.answer.sent_at = time_.now();
    const std::unique_ptr<alarm> travel = time_.make_alarm();
    co_await travel->wait_until(time_.now() + next.takes);
    next.answer.received_at = time_.now();
    --in_flight_;
    if (next.failure)
        throw boost::system::system_error{*next.failure};
    co_return std::move(next.answer);
}

scripted_node::outcome scripted_node::next_outcome(const request& made) {
    if (decide)
        if (std::optional<outcome> decided = decide(made)) {
            decided->answer.clock = clock_;
            return std::move(*decided);
        }
    if (outcomes_.empty())
        throw std::logic_error{"the test did not say what " + made.script + " answers"};
    outcome next = std::move(outcomes_.front());
    outcomes_.pop_front();
    return next;
}

class scripted_node::listener final : public redis::hearing {
public:
    listener(scripted_node& home, std::string channel, alarm& wake)
        : home_{home}
        , entry_{home.listeners.emplace(channel, &wake)}
        , channel_{std::move(channel)}
        , waiting_{home.time_.make_alarm()}
        , since_{home.time_.now()} {}
    ~listener() override { home_.listeners.erase(entry_); }

    asio::awaitable<bool> confirmed(time_point limit) override {
        if (home_.confirms_after)
            limit = std::min(limit, since_ + *home_.confirms_after);
        co_await waiting_->wait_until(limit);
        co_return home_.confirms_after&& home_.time_.now() >= since_ + *home_.confirms_after;
    }

    std::string_view last_message() const override { return home_.last_messages[channel_]; }

private:
    scripted_node& home_;
    std::multimap<std::string, alarm*>::iterator entry_;
    const std::string channel_;
    std::unique_ptr<alarm> waiting_;
    time_point since_;
};

std::unique_ptr<redis::hearing> scripted_node::hear(redis::channel_name channel, alarm& wake,
                                                    redis::linger) {
    return std::make_unique<listener>(*this, std::move(channel.text), wake);
}

} // namespace holdfast
