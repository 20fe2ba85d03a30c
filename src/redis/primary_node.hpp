// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/member.hpp"
#include "redis/node.hpp"
#include "redis/pursuit.hpp"

#include <memory>

namespace holdfast::redis {

class fixed_address;
class sentinel_watch;
class surveyor;

/// Client of one server at a time: the server at an address, or the primary that Sentinels appoint.
class primary_node : public node {
public:
    explicit primary_node(std::shared_ptr<node_context>);
    primary_node(const primary_node&) = delete;
    ~primary_node() override { close(); }

    /// Runs a script. With Sentinels, repeats the call while the server is unreachable, because a
    /// new primary may be appointed. Repeats it until its deadline at most.
    asio::awaitable<reply> call(const script& what, std::span<const std::string_view> keys,
                                std::span<const argument> arguments, call_wishes wishes) override {
        if (!sentinels_)
            return server_.call(what, keys, arguments, wishes);
        return pursue(what, keys, arguments, wishes);
    }
    void distrust(const reply& said) noexcept override { server_.distrust(said); }
    std::unique_ptr<hearing> hear(channel_name name, alarm& wake, linger how) override {
        return server_.hear(std::move(name), wake, how);
    }
    bool hears(const channel_name& name) const override { return server_.hears(name); }
    duration command_timeout() const noexcept override { return context_->how.command_timeout; }
    duration fair_wait() const noexcept override { return context_->how.fair_wait; }
    redisson_form redisson() const noexcept override { return context_->how.redisson; }
    server_identity identity(std::string_view) const override { return server_.identity(); }
    duration usual_outage() const noexcept override;
    asio::awaitable<topology_report> survey() override;
    void close() noexcept override;

private:
    asio::awaitable<reply> pursue(const script&, std::span<const std::string_view> keys,
                                  std::span<const argument>, call_wishes);
    void listen_to_sentinels();
    void watch_address();
    void move(const std::string& told_by);

    const std::shared_ptr<node_context> context_;
    const std::shared_ptr<pauses> pauses_ = std::make_shared<pauses>();
    member server_;
    const std::shared_ptr<surveyor> surveyor_;
    std::shared_ptr<sentinel_watch> sentinels_; // one of these two pointers is null
    std::shared_ptr<fixed_address> address_;
};

} // namespace holdfast::redis
