// SPDX-License-Identifier: Apache-2.0
// Connections to one server: the connection itself, its handshake, its reconnection
// (`reconnecting_connection`), the detection of missing replies (`hang_detector`), and the function
// `inquire`, which asks a server over a separate connection.
#pragma once

#include "net/byte_stream.hpp"
#include "net/deadlines.hpp"
#include "net/failure.hpp"
#include "redis/client/resp.hpp"
#include "redis/node_context.hpp"
#include "runtime/remote_clock.hpp"

#include <holdfast/credentials.hpp>
#include <holdfast/redis/options.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::redis {

/// Connection to a server. It splits the received bytes into replies, but does not know to which
/// request a reply belongs.
class connection final : public net::byte_stream {
public:
    connection(const store_context&, const options&);

    bool can_send() const { return !deaf_ && byte_stream::can_send(); }

    /// Returns the next reply that receive() has read, or null.
    reply* next() { return is_cut() ? nullptr : reader_.next(); }

    /// Waits for the next reply, without a timeout. Call this function only while no pipeline uses
    /// the connection yet.
    asio::awaitable<reply> answer();

    struct parts : byte_stream::parts {
        std::shared_ptr<runtime::remote_clock> server_clock;
    };
    parts take_apart() { return {byte_stream::take_apart(), server_clock_}; }

    /// Returns the estimate of the server's clock. Code that reads the server's time in a reply may
    /// improve the estimate. Each connection has its own estimate, because each connection may have
    /// another server.
    const std::shared_ptr<runtime::remote_clock>& server_clock() const { return server_clock_; }

    void cut(net::failure why) override;

private:
    void take(std::string_view received) override { reader_.feed(received); }
    void went_deaf(error_code) override;
    std::string end_in_words(error_code) const override;

    error_code deaf_; // why writing failed
    // Time limit, after a failed write, for reading the last replies that the server sent.
    std::optional<net::time_limit> last_words_;
    const std::shared_ptr<runtime::remote_clock> server_clock_ =
        std::make_shared<runtime::remote_clock>();
    answer_reader reader_;
};

/// Purpose of a connection. `commands`: the command connection. `more_commands`: an additional
/// connection for requests; its loss is not reported to the user's observer. `listening`: the
/// subscriber connection.
enum class purpose { commands, more_commands, listening };

/// Returns the client name for CLIENT SETNAME: printable characters without spaces, at most 128.
std::string client_name(std::string_view label);

/// Returns whether this reply to ROLE comes from a replica. A replica must not be asked about
/// locks, because it may still have a lock that its primary has deleted.
bool is_replica(const reply& role);

/// Handshake of a new connection. Sends all its requests at once, before any other request, and
/// checks the replies. Does not send HELLO, because every server and proxy speaks RESP2.
///
/// AUTH and SELECT must succeed. The other requests may fail: an ACL may forbid them, or an old
/// server or a proxy may not know them.
class handshake {
public:
    handshake(const options&, credentials, std::string_view label, purpose);

    void compose(std::string& out) const;

    /// Returns the name of the command whose reply is expected next. The result is empty if all
    /// replies have come.
    std::string_view awaited() const;

    /// Checks the next reply. Throws `failure` if the connection cannot be used.
    void judge(const reply&);

    /// Returns the facts that the server reported about itself.
    const server_hello& told() const { return told_; }

private:
    enum class step {
        authenticate,
        select_database,
        name_client,
        ask_role,
        ask_time,
        ask_identity,
        ask_history,
        ask_node
    };

    static std::string_view words_for(step);
    void judge_answer(step, const reply&);
    std::string hint_at(step, const reply& error) const;

    const options& how_;
    const credentials who_;
    std::string name_;
    std::vector<step> steps_;
    std::size_t answered_ = 0;
    bool is_at_replica_ = false;
    server_hello told_;
};

// Error messages for a URL that names one server, although a Sentinel or a cluster node replies
// there. Each message contains the URL to use instead.

/// Returns advice for a user whose URL names a cluster node as if it were a single server. The
/// advice contains the URL of the cluster.
std::string advice_at_cluster_node(const options&);

/// If the reply is an error that only a cluster node or a Sentinel sends, returns the failure to
/// report. Returns null for any other reply, or if the options name a cluster.
std::shared_ptr<const net::failure> misdirection(const node_context&, const reply& answer);

/// Returns whether this reply to ROLE comes from a Sentinel.
bool is_sentinel(const reply& role);

/// Returns advice with the URL of a Sentinel service. `role` is the Sentinel's reply to ROLE, which
/// lists the services. The URL names the first service.
std::string advice_at_sentinel(const options&, const reply* role = nullptr);

/// Opens a connection and does the handshake, within `connect_timeout`. Never throws.
///
/// On success, returns nothing, stores the facts about the server in `told`, and gives the
/// connection an estimate of the server's clock. On failure, returns the reason. The connection is
/// then closed, and no request about a lock was sent.
asio::awaitable<std::optional<net::failure>> establish(node_context&, purpose, connection&,
                                                       server_hello& told);

/// User of a `reconnecting_connection`: a `command_connection` or a `subscriber`.
class channel_handler {
public:
    virtual ~channel_handler() = default;

    /// Returns whether a connection is needed.
    virtual bool wants_to_talk() const = 0;

    /// Appends the requests to send. The connection calls this function when it can send more.
    virtual void speak(std::string& out) = 0;

    /// Processes the next reply, and may move the content out of it. Throws `failure` if the reply
    /// is not valid; the connection then ends.
    virtual void hear(reply&, time_point received_at) = 0;

    virtual void connected(const server_hello&) = 0;
    virtual void connection_failed(const net::failure&) = 0; ///< a connection could not be made
    virtual void connection_lost(const net::failure&) = 0;   ///< an open connection has ended

    /// Returns an object that the connection's coroutines keep alive while they run.
    virtual std::shared_ptr<void> keep_alive() = 0;
};

/// Connection to a server that reconnects by itself. While its user (`channel_handler`) needs a
/// connection, it connects, does the handshake, and transfers requests and replies. After a loss,
/// it pauses and connects again.
class reconnecting_connection {
public:
    reconnecting_connection(node_context&, purpose, channel_handler&);
    reconnecting_connection(const reconnecting_connection&) = delete;

    /// Sends the requests of the channel handler, and connects if necessary. Requests that are
    /// added before the write are sent in the same write.
    void talk();

    bool connected() const { return connected_; }

    /// Returns the estimate of the server's clock, or null if there is no connection.
    std::shared_ptr<runtime::remote_clock> server_clock() const {
        return connected_ ? line_->server_clock() : nullptr;
    }

    /// Ends the connection. Opens a new one if the channel handler still needs it.
    void cut(net::failure why);

    /// Ends the connection and opens a new one at once, because the server's name has a new
    /// address. Unsent requests wait for the new connection.
    void move(net::failure why);

    /// Ends the connection and its coroutines. The coroutines end soon after this call. They do not
    /// use the clock any more.
    void close();

private:
    /// Longest pause between two attempts to connect while this client holds a lock. The pause is
    /// short, because the holder must learn soon whether the server has lost the lock.
    static constexpr duration pause_max_while_holding{250};

    using shared_connection = std::shared_ptr<connection>;

    asio::awaitable<void> keep_connected(std::shared_ptr<void> keep);
    asio::awaitable<net::failure> converse(connection&);
    asio::awaitable<void> finish_sending(std::shared_ptr<void> keep, shared_connection);
    void attempt_failed(const net::failure& why);
    void conversation_begins(const server_hello&);
    void conversation_ended(const net::failure& why);
    void pause();
    void gone(const std::string& address, const net::failure& why);
    void flush_soon();
    void flush();

    node_context& context_;
    const store_context& home_;
    const purpose purpose_;
    channel_handler& channel_handler_;
    net::connectivity_reporter connectivity_;
    net::backoff backoff_;
    const std::unique_ptr<alarm> rest_;
    time_point not_before_ = time_point::min(); // earliest time of the next attempt to connect
    time_point connected_since_{};

    shared_connection line_; // the connection that is being opened or used
    bool running_ = false;   // true: keep_connected() runs
    bool connected_ = false;
    bool flush_is_due_ = false;
    bool moves_ = false; // true: move() ended the present attempt or connection
    bool closed_ = false;
};

/// Detects late replies. Reports a reply that has been missing on a connection for a quarter of
/// `command_timeout`, and repeats the report until the reply comes. After a report, the client asks
/// Sentinels or cluster nodes for a new primary, and `liveness` checks the connection. A report
/// proves nothing: the server may only be slow.
class hang_detector {
public:
    explicit hang_detector(const node_context& of)
        : context_{of}
        , timeout_{std::max(of.how.command_timeout / 4, duration{1})}
        , again_after_{std::max(timeout_ / 3, duration{1})} {}

    /// Returns whether a callback gets the report.
    bool is_possible() const { return context_.in_trouble || context_.overdue; }

    /// Returns when look() must be called next.
    time_point due(std::optional<time_point> owed_since) const {
        if (!owed_since || !is_possible())
            return time_point::max();
        return std::max(net::later(*owed_since, timeout_), net::later(asked_at_, again_after_));
    }

    /// Reports a missing reply if the time for a report has come.
    void look(std::optional<time_point> owed_since, time_point now) {
        if (due(owed_since) > now)
            return;
        asked_at_ = now;
        if (context_.in_trouble)
            context_.in_trouble();
        if (context_.overdue)
            context_.overdue();
    }

private:
    const node_context& context_;
    const duration timeout_;
    const duration again_after_;
    time_point asked_at_ = time_point::min();
};

// Functions that ask a server about other servers, over a connection for these questions only.

/// User and password for a login.
struct login {
    login(credentials c, bool refusable = false)
        : who{std::move(c)}
        , may_be_refused{refusable} {}
    credentials who;
    /// True if the user and the password are meant for other servers. If this server refuses them,
    /// the client asks its questions without a login.
    bool may_be_refused;
};

/// Connects and logs in. Continues without a login if the server has no password. If the server
/// refuses the login and `may_be_refused` is set, returns the server's error. Otherwise returns an
/// empty text. Throws `failure` if the login is not complete at `limit`.
asio::awaitable<std::string> greet(const node_context&, connection&,
                                   std::shared_ptr<const destination>, login, time_point limit);

/// Sends all requests in `words` at once, returns their replies, and ends the connection. `answers`
/// is the number of requests. Throws `failure` if replies are missing at `limit`.
asio::awaitable<std::vector<reply>> inquire(const node_context&, connection&,
                                            std::shared_ptr<const destination>, login,
                                            std::string words, std::size_t answers,
                                            time_point limit);

} // namespace holdfast::redis
