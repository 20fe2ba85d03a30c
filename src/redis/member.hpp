// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "redis/node_context.hpp"
#include "runtime/monitor.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::runtime {
class visit;
} // namespace holdfast::runtime

namespace holdfast::redis {

class ear;
class lanes;
class liveness;
class mouths;
class together;
struct request;

/// One server, by all connections to it: shared ones for requests, lanes for blocking calls, and
/// one that listens. What a node does with one server, it asks a member.
class member {
public:
    explicit member(std::shared_ptr<node_context>);
    member(const member&) = delete;
    ~member() { close(); }

    // As of a node.
    asio::awaitable<reply> call(const script& what, std::span<const std::string_view> keys,
                                std::span<const argument> arguments, call_wishes);
    void distrust(const reply&) noexcept;
    std::unique_ptr<hearing> hear(channel_name, alarm& wake, linger, bool late = false);
    bool hears(const channel_name&) const;
    server_identity identity() const;
    void close() noexcept;

    /// A command that is no script, over the shared connection.
    asio::awaitable<reply> command(std::span<const std::string_view> words);
    bool connected() const; ///< that one

    /// It is none of those that are asked any more: what was written ends as unknown, what was not
    /// as never sent, and so does whatever still comes.
    void retire(const std::string& why);

    /// The server is elsewhere now, and `node_context::where` says so: all connections end at once,
    /// and with them what is under way; the next ones lead there. Safe from within anything that a
    /// connection does.
    void move(const net::failure& why);

private:
    class loan;
    std::function<void(const net::failure&)> leaving();
    runtime::visit* visitor_here() const noexcept;
    asio::awaitable<void> send_off(runtime::visit& caller, std::optional<loan>& mine,
                                   request& asked);

    const std::shared_ptr<node_context> context_;
    runtime::monitor* const entrance_;
    const std::shared_ptr<mouths> mouths_;
    const std::shared_ptr<lanes> lanes_;
    const std::shared_ptr<ear> ear_;
    const std::shared_ptr<together> together_;
    const std::shared_ptr<liveness> liveness_;
};

} // namespace holdfast::redis
