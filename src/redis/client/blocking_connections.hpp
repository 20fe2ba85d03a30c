// SPDX-License-Identifier: Apache-2.0
// Connections for blocking calls (`blocking_connection`), and the pool that lends them
// (`blocking_connections`). The thread that makes a call writes the request and reads the reply
// itself.
#pragma once

#include "net/deadlines.hpp"
#include "redis/client/connection.hpp"
#include "redis/client/requests.hpp"
#include "redis/client/resp.hpp"
#include "redis/node_context.hpp"
#include "runtime/blocking.hpp"
#include "runtime/monitor.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

/// Connection for one blocking call at a time. The calling thread itself writes the request and
/// reads the reply, so no other thread must wake it. The calling thread waits for the reply outside
/// the client's monitor (the mutex of the client). It does everything else inside the monitor.
class blocking_connection final : public runtime::interruptible {
public:
    /// Creates the connection. The context and the `answer_wait` must outlive the connection.
    blocking_connection(node_context&, connection::parts, runtime::answer_wait&);
    blocking_connection(const blocking_connection&) = delete;
    ~blocking_connection();

    /// Returns whether the connection can be used. The result is false if the server is known to
    /// have closed the connection.
    bool alive() const;

    /// Sends the request and waits for its reply; see node::call(). Throws if the request cannot be
    /// sent at once. If broken() is true after an exception, the connection cannot be used again.
    reply ask(runtime::inline_call& caller, request&);
    bool broken() const { return broken_; }

    /// Returns whether the reply came over this connection.
    bool gave(const reply& said) const { return said.clock == server_clock_; }

    /// Makes the running wait for a reply fail with `why`. After this call, the connection ignores
    /// all replies.
    void condemn(const net::failure& why) {
        condemned_ = why;
        hang_up();
    }

    /// Returns whether the present call waits until replicas have confirmed its request.
    bool waits_for_replicas() const { return wants_confirmation_; }

    /// Sends the request without waiting for its reply. When a later ask() or collect() reads the
    /// reply, it calls the request's `resume`, which keeps the request alive. If the connection
    /// ends first, `resume` is posted instead. If `with_text` is set when `resume` is called, the
    /// server does not know the script. The caller must then send the request again, with the text
    /// of the script.
    void send_off(runtime::inline_call& caller, request&);
    bool owes() const { return !owed_.empty(); }
    std::optional<time_point> owed_since() const {
        return owes() ? std::optional{owed_.front().sent_at} : std::nullopt;
    }
    bool may_owe_more() const { return owed_.size() < owes_max; }

    /// Reads the replies that have arrived, without waiting. Marks the connection as broken if the
    /// oldest reply has been missing for `command_timeout` or longer.
    void collect();

    /// Makes the thread that waits for a reply stop waiting.
    void hang_up() noexcept;
    void interrupt() noexcept override { hang_up(); }

private:
    static constexpr std::size_t owes_max = 64;

    struct pending_reply {
        request* to;
        time_point sent_at;
    };

    duration timeout_for(const request&) const;
    void exchange(runtime::inline_call& caller, duration timeout, bool confirms);
    void talk(duration timeout) noexcept;
    void finish(request&, reply&, time_point sent_at);
    void confirm(reply&, const reply& confirmation);
    void note_demotion(const reply& error);
    void give_out();
    void settle(pending_reply, reply);
    void send();
    void wait_until_writable();
    bool arrived();
    void read_answers();
    [[noreturn]] void lost(const std::string& why);
    [[noreturn]] void fail(const std::string& why);

    node_context& context_;
    const std::shared_ptr<const destination> to_;
    const int socket_;
    const std::unique_ptr<net::tls_session> session_; // null if the connection has no TLS
    const std::shared_ptr<runtime::remote_clock> server_clock_;
    runtime::answer_wait& wait_;
    answer_reader reader_;
    std::deque<pending_reply> owed_; // requests without a reply, in the order of sending
    // Replies that were read, but not yet passed to their requests. These requests are the first
    // ones in `owed_`.
    std::vector<reply> early_;
    reply* answer_ = nullptr;
    // True if a WAIT command (for replicas) follows the request of the running call. `answer_` is
    // then the reply to WAIT, and `unconfirmed_` has the reply to the request.
    bool wants_confirmation_ = false;
    std::vector<reply> unconfirmed_;
    std::exception_ptr failed_;
    bool broken_ = false;
    // Set if replies must be ignored: the reason for this. Used only inside the client's monitor,
    // unlike `broken_`.
    std::optional<net::failure> condemned_;
    std::string outbox_;
    std::string sealed_;
    std::array<char, 16 * 1024> inbox_;
};

/// Pool of connections for blocking calls to one server. A call borrows a connection and uses it
/// alone. If no connection is free, the call does not wait, but uses the shared connection. The
/// pool opens connections in the background when calls need them, and closes idle connections.
class blocking_connections : public std::enable_shared_from_this<blocking_connections> {
public:
    explicit blocking_connections(std::shared_ptr<node_context>);

    /// Borrowed connection. The destructor returns the connection to the pool. The object is empty
    /// if no connection was free.
    class borrowed_connection {
    public:
        explicit borrowed_connection(blocking_connections& all)
            : all_{all}
            , lent_{all.borrow()} {}
        borrowed_connection(const borrowed_connection&) = delete;
        ~borrowed_connection() {
            if (lent_)
                all_.give_back(*lent_);
        }
        explicit operator bool() const noexcept { return lent_ != nullptr; }
        blocking_connection* operator->() const noexcept { return lent_; }

    private:
        blocking_connections& all_;
        blocking_connection* const lent_;
    };

    /// Waits in the background for replies that have not arrived yet. Without this wait, such
    /// replies would stay unread until the next call.
    void collect_soon();

    /// Closes each connection as soon as no call uses it. Running calls still get their replies.
    void cut(const net::failure& why);

    /// Ends all connections at once, and the calls on them.
    void move(const net::failure& why);

    /// Ends each connection that has waited for a reply since the time `since` or longer. The calls
    /// on these connections fail. Returns whether any connection was ended. Does not end
    /// connections that wait for replicas, because this wait may be long.
    bool cut_silent(time_point since, const net::failure& why);

    /// Ends each connection whose server may not be the server of the command connection. The calls
    /// on these connections fail.
    void follow(const server_in_use&, const net::failure& why);

    /// Ends the connection over which this reply came, and the call on it. Does nothing if the
    /// reply did not come over a connection of this pool.
    void distrust(const reply&);

    /// Ends all calls and closes all connections.
    void close();

private:
    /// The pool opens a connection only after this number of calls found no free connection. So a
    /// program that locks only once or twice opens no second connection.
    static constexpr unsigned demands_min = 4;
    static constexpr duration idle_max = std::chrono::seconds{10};
    /// Time between two checks for missing replies.
    static constexpr duration collect_period{1};

    struct entry {
        std::unique_ptr<blocking_connection> line;
        time_point used_at;
        std::string run_id; ///< run_id of its server; empty if unknown
        bool lent = false;
        bool leaves = false; ///< true: the connection must not be used again
        time_point lent_at{};
    };

    void sweep_soon();
    blocking_connection* borrow();
    void give_back(const blocking_connection&);
    void ask_for_one_more();
    static asio::awaitable<void> open(std::shared_ptr<blocking_connections>);
    static asio::awaitable<void> close_idle(std::shared_ptr<blocking_connections>);
    static asio::awaitable<void> collect(std::shared_ptr<blocking_connections>);
    bool any_owes() const;
    void suspect_soon();
    static asio::awaitable<void> suspect(std::shared_ptr<blocking_connections>);
    std::optional<time_point> owed_since() const;

    const std::shared_ptr<node_context> context_;
    runtime::answer_wait wait_;
    hang_detector hang_detector_;
    net::backoff backoff_;
    const std::unique_ptr<alarm> tidying_;
    const std::unique_ptr<alarm> collecting_;
    const std::unique_ptr<alarm> suspecting_;
    std::vector<entry> all_;
    std::shared_ptr<connection> opening_; // the connection that is being opened
    unsigned demands_ = 0;
    time_point not_before_ = time_point::min(); // earliest time of the next attempt to open one
    bool tidies_ = false;
    bool collects_ = false;
    bool suspects_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
