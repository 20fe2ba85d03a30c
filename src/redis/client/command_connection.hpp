// SPDX-License-Identifier: Apache-2.0
// Shared connections for the requests to one server (`command_connection`, `command_connections`),
// and the class that notices when a new connection has another server than the old one
// (`server_identity_tracker`).
#pragma once

#include "net/deadlines.hpp"
#include "redis/client/connection.hpp"
#include "redis/client/requests.hpp"
#include "redis/node_context.hpp"

#include <holdfast/store.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Identity of the server at the other end of a connection. Each handshake updates it.
class server_identity_tracker {
public:
    /// Result of a handshake. `first`: no server was known before. `same`: the server is the same
    /// as before. `other_or_unknown`: the server is another one than before, or may be another one.
    enum class handshake_result { first, same, other_or_unknown };
    handshake_result meet(const server_hello&, time_point now);

    /// Returns the server that the connection leads to.
    server_in_use server() const { return {run_id_, may_be_another_}; }

    /// Records that the connection was lost. Until the next connection, the server may restart
    /// unnoticed.
    void lost(time_point now);

    server_identity identity() const { return {run_id_, forgets_before_}; }

private:
    bool met_ = false;
    bool may_be_another_ = false; // true: perhaps not the same server as before
    std::string run_id_;
    std::string replication_id_;
    std::optional<time_point> forgets_before_;
    // Copy of `forgets_before_` from the time before the connection was lost. It is restored if the
    // next connection reaches the same server process.
    std::optional<time_point> before_loss_;
};

/// Connection for pipelined requests (`command_connection`). Requests that are added during a write
/// are sent with the next write. Replies are matched to requests by their order.
///
///   asked ─▶ queued ─▶ written ─▶ answered
///              │          ├─▶ timeout: outcome_unknown. Its reply is still expected, because later
///              │          │   requests are carried out after it. After twice the timeout the
///              │          │   connection is ended
///              │          └─▶ connection lost: outcome_unknown
///              └─▶ timeout, or no connection can be made: unreachable. If a connection is lost,
///                  queued requests wait for the next connection
///
/// Waiting callers are resumed by the coroutine that reads replies.
///
/// If replicas must confirm the requests, the connection sends one command WAIT after each batch of
/// requests. The replies of the batch are held back until the reply to WAIT has come. Until then
/// nothing more is sent, and new requests form the next batch. Requests that need no replicas use
/// another connection, because a slow replica would delay them.
///
/// The connection for `purpose::commands` stays open while this client holds any lock. After each
/// reconnection it reports that all holds may be lost (`revalidate`). Other connections are closed
/// when they are idle.
class command_connection final : public std::enable_shared_from_this<command_connection>,
                                 private channel_handler {
public:
    /// Creates the connection. `replicas` is the number of replicas that must confirm each request
    /// on this connection; it may be 0.
    command_connection(std::shared_ptr<node_context>, purpose, std::uint8_t replicas = 0);

    /// Runs a script; see node::call().
    asio::awaitable<reply> ask(const script&, request::names_list keys,
                               request::arguments_list arguments, const call_options&);

    /// Opens the connection now if it is not open, even if there is no request to send.
    void stay_connected();

    /// Returns whether a request has timed out on this connection, and no reply has come since
    /// then.
    bool silent() const {
        return connection_.connected() && (stuck_ || pipeline_.owes_what_was_given_up());
    }

    /// Returns whether a reply is still missing on the open connection.
    bool owes() const { return connection_.connected() && pipeline_.owed_since().has_value(); }

    /// Returns whether the reply came over this connection.
    bool gave(const reply& said) const {
        return said.clock && said.clock == connection_.server_clock();
    }

    server_identity identity() const { return identity_.identity(); }

    /// Ends the connection. Requests that were sent fail with outcome_unknown.
    void cut(const net::failure& why) { connection_.cut(why); }
    /// Ends the connection, and opens a new one at once.
    void move(const net::failure& why) { connection_.move(why); }

    /// Ends the connection if it has waited for a reply since the time `since` or longer. Returns
    /// whether the connection was ended. Does not end a connection that waits for replicas, because
    /// this wait may be long.
    bool cut_silent(time_point since, const net::failure& why);

    /// Sends a PING or ROLE to test the connection.
    void ask_if_there();

    /// Ends the connection, or the attempt to connect, if the server may not be the given server.
    void follow(const server_in_use&, const net::failure& why);

    bool is_connected() const { return connection_.connected(); }

    /// Fails all waiting requests with `errc::closed`. The callers of the requests are resumed
    /// after this function has returned.
    void close();

    /// Fails all requests, because the server is not used any more. Requests that were sent fail
    /// with outcome_unknown. The other requests fail with unreachable.
    void retire(const std::string& why);

private:
    /// Maximum size of one write, in bytes. Requests beyond this size stay in the queue, where they
    /// can still be withdrawn.
    static constexpr std::size_t batch_bytes_max = 256 * 1024;

    /// Longest time without a received byte before the connection is tested. The test finds a
    /// server that vanished without notice. Usually the test comes earlier: after a third of the
    /// default lease time, or after `command_timeout` if this is longer.
    static constexpr duration idle_max = std::chrono::minutes{1};

    using question = pipeline::question;

    bool wants_to_talk() const override;
    void speak(std::string& out) override;
    void hear(reply&, time_point received_at) override;
    void connected(const server_hello&) override;
    void connection_failed(const net::failure&) override;
    void connection_lost(const net::failure&) override;
    std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

    void watch_for(time_point limit) { deadline_timer_.watch_for(limit, shared_from_this()); }
    time_point next_limit() const;
    void limit_reached(time_point now);

    void admit(const call_options&) const;
    void write_queued(std::string& out, time_point now);
    void answer_given(request&, reply&, const pipeline::written&, time_point received_at);
    void confirmation_given(const reply&);
    void meet(const server_hello&);
    void judge(const reply&, question);
    void enqueue(request&);
    time_point send_until(const request&) const;
    void withdraw(request&);
    void resume(request&);
    void end(const std::vector<request*>&, const net::failure& why);
    void idle();
    time_point idle_until() const { return net::later(last_heard_, idle_bound_); }
    time_point give_up_at(time_point owed_since) const {
        return net::later(net::later(owed_since, timeout_), timeout_);
    }
    bool anything_held() const { return context_->home.holds_any && context_->home.holds_any(); }
    void close_down(const net::failure& of_written, const net::failure& of_queued);
    net::failure unsent(const request&) const;
    net::failure unanswered(duration within) const;

    const std::shared_ptr<node_context> context_;
    const purpose purpose_;
    const std::uint8_t replicas_;
    const duration timeout_;
    const duration idle_bound_;
    pipeline pipeline_;
    hang_detector hang_detector_;
    std::optional<net::failure> trouble_; // why there is no connection
    time_point last_heard_{};
    server_identity_tracker identity_;
    question idle_question_ = question::ping;
    bool question_is_due_ = false;
    bool stays_ = false;                 // true: open the connection even without requests
    bool stuck_ = false;                 // true: a request timed out before it could be written
    std::optional<net::failure> closed_; // error of all requests after close()
    reconnecting_connection connection_;
    net::deadline_timer deadline_timer_;
};

/// Shared connections for requests to one server: the command connection, and one connection for
/// each required number of confirming replicas. Each of them can have a spare connection. While a
/// timed-out request has no reply, new requests use the spare connection, because the first
/// connection may be dead. The class `liveness` ends a dead connection only after a while, because
/// the server may only be slow.
class command_connections {
public:
    explicit command_connections(std::shared_ptr<node_context>);

    /// Returns the connection for a request with these options.
    command_connection& pick(const call_options&);

    /// Opens the command connection if it is not open. The client needs it, because no other
    /// connection notices the loss of the server.
    void stay_connected() { usual_.first->stay_connected(); }

    bool connected() const { return usual_.first->is_connected(); }

    server_identity identity() const { return usual_.first->identity(); }

    /// Ends all connections.
    void cut(const net::failure& why);
    void move(const net::failure& why); ///< ends all connections, and opens new ones at once

    /// Ends each connection that has waited for a reply since the time `since` or longer. Returns
    /// whether any connection was ended.
    bool cut_silent(time_point since, const net::failure& why);

    /// Tests each connection with a PING or ROLE.
    void ask_if_there();

    /// Replaces each connection whose server may not be the server of the command connection. The
    /// new connections are opened at once.
    void follow(const server_in_use&, const net::failure& why);

    /// Ends the connection over which this reply came, if it is one of these connections.
    void distrust(const reply&, const net::failure& why);

    void close();
    /// Ends all connections for ever, but does not close the client.
    void retire(const std::string& why);

private:
    struct pair {
        std::shared_ptr<command_connection> first;
        std::shared_ptr<command_connection> spare{}; ///< null if it was never needed
    };
    pair& pair_for(const call_options&);
    void for_each(const std::function<void(command_connection&)>&);

    const std::shared_ptr<node_context> context_;
    pair usual_;
    std::map<std::uint8_t, pair> confirming_; // key: number of replicas that must confirm
    bool closed_ = false;
    std::string retired_; // why retire() was called
};

} // namespace holdfast::redis
