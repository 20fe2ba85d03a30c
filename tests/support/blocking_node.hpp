// SPDX-License-Identifier: Apache-2.0
// Redis store on a real server without its production connection. Each request is complete when the
// call returns. For tests in simulated time.
#pragma once

#include "redis/node.hpp"
#include "support/listener.hpp"
#include "support/redis_connection.hpp"

#include <map>
#include <string>

namespace holdfast::support {

class blocking_node final : public redis::node {
public:
    blocking_node(const std::string& socket_path, clock& time)
        : command_connection_{socket_path}
        , subscriber_{socket_path}
        , time_{time} {}

    /// Wakes the subscribers of all messages that were published so far. Before this call no
    /// message wakes a subscriber.
    void deliver();

    asio::awaitable<redis::reply> call(const redis::script&, std::span<const std::string_view> keys,
                                       std::span<const redis::argument>,
                                       redis::call_options) override;
    void distrust(const redis::reply&) noexcept override {}
    std::unique_ptr<redis::hearing> hear(redis::channel_name, alarm& wake, redis::linger) override;
    bool hears(const redis::channel_name&) const override { return false; }
    duration command_timeout() const noexcept override { return duration{3'000}; }
    void close() noexcept override {}

private:
    class one_listener;

    redis_connection command_connection_;
    listener subscriber_;
    clock& time_;
    const std::shared_ptr<runtime::remote_clock> clock_ = std::make_shared<runtime::remote_clock>();
    std::multimap<std::string, alarm*> listeners_;
};

} // namespace holdfast::support
