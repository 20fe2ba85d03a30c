// SPDX-License-Identifier: Apache-2.0
// Client that uses one server at a time (`primary_node`), and the check that a fixed address still
// belongs to the same server (`fixed_address`).
#pragma once

#include "redis/client/requests.hpp"
#include "redis/client/server_connections.hpp"
#include "redis/node.hpp"
#include "redis/node_context.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast::redis {

class fixed_address;
class sentinel_watch;
class topology_inspector;

/// Client of one server at a time. This is the server at a fixed address, or the primary that
/// Sentinels name.
class primary_node : public node {
public:
    explicit primary_node(std::shared_ptr<node_context>);
    primary_node(const primary_node&) = delete;
    ~primary_node() override { close(); }

    /// Runs a script. With Sentinels, repeats the call until its deadline while the server is
    /// unreachable, because the Sentinels may name a new primary.
    asio::awaitable<reply> call(const script& what, std::span<const std::string_view> keys,
                                std::span<const argument> arguments,
                                call_options options) override {
        if (!sentinels_)
            return server_.call(what, keys, arguments, options);
        return pursue(what, keys, arguments, options);
    }
    void distrust(const reply& said) noexcept override { server_.distrust(said); }
    std::unique_ptr<hearing> hear(channel_name name, alarm& wake, linger how) override {
        return server_.hear(std::move(name), wake, how);
    }
    bool hears(const channel_name& name) const override { return server_.hears(name); }
    duration command_timeout() const noexcept override { return context_->how.command_timeout; }
    duration fair_wait() const noexcept override { return context_->how.fair_wait; }
    bool direct_hand_off() const noexcept override { return context_->how.direct_hand_off; }
    redisson_form redisson() const noexcept override { return context_->how.redisson; }
    server_identity identity(std::string_view) const override { return server_.identity(); }
    duration usual_outage() const noexcept override;
    asio::awaitable<topology_report> survey() override;
    void close() noexcept override;

private:
    asio::awaitable<reply> pursue(const script&, std::span<const std::string_view> keys,
                                  std::span<const argument>, call_options);
    void listen_to_sentinels();
    void watch_address();
    void move(const std::string& told_by);

    const std::shared_ptr<node_context> context_;
    const std::shared_ptr<pauses> pauses_ = std::make_shared<pauses>();
    server_connections server_;
    const std::shared_ptr<topology_inspector> topology_inspector_;
    std::shared_ptr<sentinel_watch> sentinels_; // one of these two pointers is null
    std::shared_ptr<fixed_address> address_;
};

/// Checks that the name of a server still leads to this server. If the name is changed, the old
/// server may still accept connections, and the client would go on to ask the old server for locks.
/// So the name is looked up every `options::address_check` while there is a connection. The client
/// leaves the server when three lookups in a row do not return its address. One lookup is not
/// enough, because for some names, each lookup returns other addresses in turn.
///
/// Also reports to the user's observer when a new connection leads to another server than the one
/// before.
class fixed_address : public std::enable_shared_from_this<fixed_address> {
public:
    explicit fixed_address(std::shared_ptr<node_context>);

    // Callbacks of the command connection. The members of `node_context` with the same names
    // explain them.
    void on_connected(const server_hello&);
    void on_disconnected();

    void close();

private:
    static constexpr int missing_max = 3;

    struct server {
        net::stream_endpoint at;
        std::string run_id; // empty if the server did not report it
    };

    using self = std::shared_ptr<fixed_address>;
    static asio::awaitable<void> watch(self);
    asio::awaitable<void> rest();
    asio::awaitable<std::optional<bool>> is_missing(net::stream_endpoint);
    bool is_another(const server&) const;
    void leave();

    const std::shared_ptr<node_context> context_;
    const std::unique_ptr<alarm> wake_;
    const bool can_change_; // true: the name can lead to another address later
    std::optional<server> last_;
    bool connected_ = false;
    int missing_ = 0; // number of lookups in a row without the address in use
    bool watching_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
