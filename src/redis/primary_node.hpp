// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/member.hpp"
#include "redis/node.hpp"

#include <memory>

namespace holdfast::redis {

/// A node with one server at a time.
class primary_node : public node {
public:
    explicit primary_node(std::shared_ptr<node_context>);
    primary_node(const primary_node&) = delete;
    ~primary_node() override { close(); }

    asio::awaitable<reply> call(const script& what, std::span<const std::string_view> keys,
                                std::span<const argument> arguments, call_wishes wishes) override {
        return server_.call(what, keys, arguments, wishes);
    }
    void distrust(const reply& said) noexcept override { server_.distrust(said); }
    std::unique_ptr<hearing> hear(channel_name name, alarm& wake, linger how) override {
        return server_.hear(std::move(name), wake, how);
    }
    bool hears(const channel_name& name) const override { return server_.hears(name); }
    duration command_timeout() const noexcept override { return context_->how.command_timeout; }
    duration fair_wait() const noexcept override { return context_->how.fair_wait; }
    redisson_form redisson() const noexcept override { return context_->how.redisson; }
    server_identity identity() const override { return server_.identity(); }
    void close() noexcept override { server_.close(); }

private:
    const std::shared_ptr<node_context> context_;
    member server_;
};

} // namespace holdfast::redis
