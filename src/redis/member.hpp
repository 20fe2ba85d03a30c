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

/// All connections to one server: shared connections for requests (`mouths`), connections for
/// blocking calls (`lanes`), and the subscriber connection (`ear`). A node uses one `member` for
/// each server.
class member {
public:
    explicit member(std::shared_ptr<node_context>);
    member(const member&) = delete;
    ~member() { close(); }

    // See the functions of `node` with the same names.
    asio::awaitable<reply> call(const script& what, std::span<const std::string_view> keys,
                                std::span<const argument> arguments, call_wishes);
    void distrust(const reply&) noexcept;
    std::unique_ptr<hearing> hear(channel_name, alarm& wake, linger, bool late = false);
    bool hears(const channel_name&) const;
    server_identity identity() const;
    void close() noexcept;

    /// Sends a command that is not a script, over the shared connection.
    asio::awaitable<reply> command(std::span<const std::string_view> words);
    bool connected() const; ///< whether the command connection is connected

    /// Closes all connections, because the server is not used any more. Requests that were sent end
    /// as outcome_unknown. Requests that were not sent, and later requests, end as unreachable.
    void retire(const std::string& why);

    /// Ends all connections at once, because `node_context::where` names another server now.
    /// Requests that were sent end as outcome_unknown. New connections lead to the new server. The
    /// callbacks of all connections may call this function.
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
