// SPDX-License-Identifier: Apache-2.0
// A server that answers what the test says, in simulated time, and remembers what it was asked.
#pragma once

#include "redis/node.hpp"
#include "support/sim_clock.hpp"

#include <boost/system/system_error.hpp>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

class scripted_node final : public redis::node {
public:
    struct request {
        std::string script;
        std::vector<std::string> keys;
        std::vector<std::string> words;          ///< texts and numbers among the arguments
        std::optional<time_point> deadline = {}; ///< the one that is a moment
        time_point at{};
        redis::call_options options{};
    };
    struct outcome {
        redis::reply answer{};
        std::optional<error_code> failure{};
        duration takes{};
    };

    explicit scripted_node(clock& time)
        : time_{time} {}

    void will_answer(const std::vector<std::int64_t>& integers, duration takes = {});
    void will_fail(error_code, duration takes = {});

    static redis::reply array_of(const std::vector<std::int64_t>& integers);

    asio::awaitable<redis::reply> call(const redis::script&, std::span<const std::string_view> keys,
                                       std::span<const redis::argument>,
                                       redis::call_options) override;
    void distrust(const redis::reply&) noexcept override { ++distrusted; }
    std::unique_ptr<redis::hearing> hear(redis::channel_name, alarm& wake, redis::linger) override;
    bool hears(const redis::channel_name&) const override { return false; }
    duration command_timeout() const noexcept override { return duration{3'000}; }
    server_identity identity(std::string_view) const override { return who; }
    void close() noexcept override {}

    /// Until a subscription is confirmed; nothing: never.
    std::optional<duration> confirms_after = duration{5};

    /// Answers instead of what was said beforehand, if it answers at all.
    std::function<std::optional<outcome>(const request&)> decide;

    server_identity who{};
    std::vector<request> asked;
    std::multimap<std::string, alarm*> listeners; ///< now, by channel
    int in_flight_max = 0;

    /// What it will answer from now on comes by another connection.
    void by_another_connection() { clock_ = std::make_shared<runtime::remote_clock>(); }

    /// Of the present connection.
    runtime::remote_clock& server_clock() { return *clock_; }
    int distrusted = 0; ///< answers

private:
    class listener;

    outcome next_outcome(const request&);

    clock& time_;
    std::deque<outcome> outcomes_;
    std::shared_ptr<runtime::remote_clock> clock_ = std::make_shared<runtime::remote_clock>();
    int in_flight_ = 0;
};

} // namespace holdfast
