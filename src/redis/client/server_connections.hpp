// SPDX-License-Identifier: Apache-2.0
// All connections to one server (`server_connections`), and two classes that check these
// connections. `same_server_guard` keeps all connections at the same server. `liveness` ends
// connections that have died without notice.
#pragma once

#include "redis/client/connection.hpp"
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
class inline_call;
} // namespace holdfast::runtime

namespace holdfast::redis {

class subscriber;
class blocking_connections;
class liveness;
class command_connections;
class same_server_guard;
struct request;

/// All connections to one server: shared connections for requests (`command_connections`),
/// connections for blocking calls (`blocking_connections`), and the subscriber connection
/// (`subscriber`). A node has one such object for each server.
class server_connections {
public:
    explicit server_connections(std::shared_ptr<node_context>);
    server_connections(const server_connections&) = delete;
    ~server_connections() { close(); }

    // Functions of `node`; their comments are there.
    asio::awaitable<reply> call(const script& what, std::span<const std::string_view> keys,
                                std::span<const argument> arguments, call_options);
    void distrust(const reply&) noexcept;
    std::unique_ptr<hearing> hear(channel_name, alarm& wake, linger, bool late = false);
    bool hears(const channel_name&) const;
    server_identity identity() const;
    void close() noexcept;

    /// Sends a command that is not a script, over the shared connection.
    asio::awaitable<reply> command(std::span<const std::string_view> words);
    bool connected() const; ///< whether the command connection is connected

    /// Closes all connections, because the server is not used any more. Requests that were sent
    /// fail with outcome_unknown. Other requests, and all later ones, fail with unreachable.
    void retire(const std::string& why);

    /// Ends all connections at once, because `node_context::where` names another server now.
    /// Requests that were sent fail with outcome_unknown. New connections go to the new server. The
    /// callbacks of all connections may call this function.
    void move(const net::failure& why);

private:
    class borrowed_connection;
    std::function<void(const net::failure&)> leaving();
    runtime::inline_call* inline_call_here() const noexcept;
    asio::awaitable<void> send_off(runtime::inline_call& caller,
                                   std::optional<borrowed_connection>& mine, request& asked);

    const std::shared_ptr<node_context> context_;
    runtime::monitor* const monitor_;
    const std::shared_ptr<command_connections> command_connections_;
    const std::shared_ptr<blocking_connections> blocking_connections_;
    const std::shared_ptr<subscriber> subscriber_;
    const std::shared_ptr<same_server_guard> same_server_guard_;
    const std::shared_ptr<liveness> liveness_;
};

/// Keeps all connections of a `server_connections` at the same server. Without this class, if a
/// name or a proxy began to lead to another server, existing connections would stay at the old
/// server. Then two calls of one client could ask different servers for the same lock.
///
/// The server of the command connection is the right one. If a new command connection leads to
/// another server, or to a server that does not report its run_id, the other connections end and
/// are opened again. If another new connection leads to another server, all connections end.
///
/// Some proxies choose a server for each connection. Behind such a proxy, different servers mean no
/// change. So after each change, the class ignores further changes for a while, and for longer each
/// time.
class same_server_guard {
public:
    same_server_guard(std::shared_ptr<node_context>, std::shared_ptr<command_connections>,
                      std::shared_ptr<blocking_connections>, std::shared_ptr<subscriber>);

    // Callbacks of the connections. The members of `node_context` with the same names explain them.
    void on_shared_connection(const server_in_use&);
    void on_other_connection(const server_hello&);

private:
    static constexpr duration heeded_again_max = std::chrono::hours{1};

    const std::shared_ptr<node_context> context_;
    const std::shared_ptr<command_connections> command_connections_;
    const std::shared_ptr<blocking_connections> blocking_connections_;
    const std::shared_ptr<subscriber> subscriber_;
    duration pause_; // how long further changes are ignored; doubles each time
    time_point heeds_from_ = time_point::min();
};

/// Finds connections that have died without notice. When a reply has been missing for part of
/// `command_timeout`, asks the server over a new connection. If the server replies there, and the
/// old connection brings no reply within a short grace period, ends the old connection. Its
/// requests then fail with outcome_unknown instead of waiting longer.
///
/// The question is a script, because a server that has paused writes (CLIENT PAUSE, a failover)
/// does not reply to scripts. So no connection is ended during such a pause.
class liveness : public std::enable_shared_from_this<liveness> {
public:
    liveness(std::shared_ptr<node_context>, std::shared_ptr<command_connections>,
             std::shared_ptr<blocking_connections>, std::shared_ptr<subscriber>);

    /// Starts a check, unless a check is running. Call this function if a reply on a connection is
    /// missing.
    void look();

    void close() noexcept;

private:
    using self = std::shared_ptr<liveness>;
    static asio::awaitable<void> check(self);
    asio::awaitable<bool> answers_anew(time_point limit);
    void cut_silent(time_point since);

    const std::shared_ptr<node_context> context_;
    const std::shared_ptr<command_connections> command_connections_;
    const std::shared_ptr<blocking_connections> blocking_connections_;
    const std::shared_ptr<subscriber> subscriber_;
    const duration timeout_; ///< time limit for the reply on the new connection
    const duration grace_;   ///< extra time for the old connection after that reply
    const std::unique_ptr<alarm> rest_;
    std::shared_ptr<connection> line_;          // the new connection
    time_point not_before_ = time_point::min(); // earliest time of the next check
    bool checks_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
