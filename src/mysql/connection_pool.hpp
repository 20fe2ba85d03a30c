// SPDX-License-Identifier: Apache-2.0
// Pool of the connections of one client (`pool`), the table that assigns these connections to
// requests (`connection_table`), and the handle of a connection that the store keeps
// (`pinned_connection_of_pool`).
#pragma once

#include "mysql/connection.hpp"
#include "mysql/server_answers.hpp"
#include "net/deadlines.hpp"
#include "runtime/monitor.hpp"

#include <holdfast/mysql/options.hpp>

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::mysql {

struct pooled_connection;

/// A request that waits for a connection. The object lives in the frame of the waiting coroutine.
/// Its destructor removes the request from the queue.
struct waiting
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    explicit waiting(std::unique_ptr<alarm> a)
        : wake{std::move(a)} {}

    const std::unique_ptr<alarm> wake;
    /// Connection that the request has got. Null if the request still waits for a connection.
    std::shared_ptr<pooled_connection> got;
    std::shared_ptr<const net::failure> failed{}; ///< reason why the request gets no connection
};
using queue = boost::intrusive::list<waiting, boost::intrusive::constant_time_size<false>>;

/// One connection of the pool, with its state.
struct pooled_connection {
    explicit pooled_connection(introduced made)
        : at{std::move(made.at)}
        , who{std::move(made.who)} {}

    const std::shared_ptr<server_connection> at;
    server_info who;
    bool taken = false; ///< true: a request uses the connection now
    /// Whether the connection is reserved for waiters in GET_LOCK. Ordinary requests do not use
    /// such a connection.
    bool to_wait_on = false;
    bool kept = false;           ///< true: a waiter has reserved the connection
    bool in_transaction = false; ///< true: a transaction was left open on it
    queue named;                 ///< queue of requests that wait for this connection
    std::weak_ptr<pinned_connection> given{};

    /// Returns whether the connection is only for requests that name this connection.
    bool apart() const { return kept || in_transaction; }
    bool free() const { return !taken && !apart() && !at->is_cut(); }
};

/// Table that assigns connections to requests. It does no I/O and reads no clock.
///
///   requests for any connection      ──▶ one queue for all shared connections
///   requests that name a connection  ──▶ the queue of that connection, which is served first
class connection_table {
public:
    using pooled_ptr = std::shared_ptr<pooled_connection>;

    /// Marks a free shared connection as taken and returns it. Returns null if no shared connection
    /// is free.
    pooled_ptr take_free();
    /// Marks the given connection as taken and returns it. Returns null if another request uses the
    /// connection now.
    pooled_ptr take(const pooled_ptr& named);
    /// Reserves a free connection for a waiter in GET_LOCK and returns it. Returns null if no
    /// connection is free.
    pooled_ptr take_spare();

    /// Puts the request at the end of the queue for shared connections.
    void wait(waiting& who) { shared_.push_back(who); }

    void add(const pooled_ptr& made) { all_.push_back(made); }

    /// Marks the connection as free, and assigns it to a waiting request: the request that has
    /// waited longest and may use the connection. If the connection is cut, removes the connection
    /// instead.
    void give_back(const pooled_ptr&);

    /// Removes a connection that is cut. Returns false if it was already removed.
    bool drop(const pooled_ptr&);

    bool anybody_waits() const { return !shared_.empty(); }
    void fail_shared(const net::failure& why);
    void fail_all(const net::failure& why);

    /// Returns the number of shared connections. A connection with an open transaction counts,
    /// because it will be shared again soon.
    std::size_t shared_count() const;
    std::size_t to_wait_on_count() const;
    bool empty() const { return all_.empty(); }
    const std::vector<pooled_ptr>& all() const { return all_; }

    static void fail(queue&, const std::shared_ptr<const net::failure>&);

private:
    void hand(queue& to, const pooled_ptr&);

    std::vector<pooled_ptr> all_;
    queue shared_;
};

/// Pool of the connections of one client. The pool makes connections, lends them to requests, and
/// ends requests at their deadlines. If a server accepts no writes, the pool leaves that server. At
/// any time, all connections lead to the same server.
///
///   a request ──▶ waits for a connection ──▶ is sent ──▶ is answered
///                   │                          └─▶ late: the connection is cut, outcome_unknown
///                   └─▶ late, or no server can be reached: unreachable
///
/// A calling thread runs its request itself while there are fewer requests than connections. If
/// there are more, the background thread runs them, and handles many requests each time it wakes.
///
/// Coroutines that run in the pool keep it alive, so the pool may outlive the store.
class pool final : public std::enable_shared_from_this<pool> {
public:
    using factory_maker =
        std::function<std::unique_ptr<connection_factory>(const store_context&, const options&)>;
    pool(options, store_context, const factory_maker&);
    pool(const pool&) = delete;

    // These functions implement `database`; see the comments there.
    asio::awaitable<answers> run(statements&, call_options);
    asio::awaitable<std::shared_ptr<pinned_connection>> connection_to_wait_on(time_point limit);
    const std::optional<server_facts>& facts() const { return facts_; }
    bool has_bells() const;
    void no_bells_here() noexcept { no_bells_ = true; }
    const options& how() const { return how_; }
    std::string address() const;
    void close() noexcept;

    // Gives a connection back to the pool. The destructor of `pinned_connection_of_pool` calls this
    // function.
    void let_go(const connection_table::pooled_ptr&);

private:
    class borrowed_connection;
    class counted_request;
    using pooled_ptr = connection_table::pooled_ptr;

    static constexpr int repeats_max = 3;
    static constexpr duration repeat_pause_max{40};
    /// Longest pause between two attempts to connect while this client holds a lock.
    static constexpr duration pause_max_while_holding{250};
    /// Longest time after the last answer for which an idle connection may stay unwatched. While it
    /// is unwatched, the pool does not notice if the server closes it.
    static constexpr duration unwatched_max{100};

    // Functions that lend connections to requests and run the requests.
    void admit(const call_options&) const;
    asio::awaitable<borrowed_connection> connection_for(const call_options&, time_point limit);
    pooled_ptr named_by(const call_options&) const;
    pooled_ptr take_free();
    void take_back(const pooled_ptr&);
    asio::awaitable<std::optional<answers>>
    carry_out(const pooled_ptr&, statements&, const call_options&, time_point limit, int tries);
    asio::awaitable<std::vector<statement_answer>>
    ask(const pooled_ptr&, const std::vector<std::string>&, time_point limit);
    asio::awaitable<void> roll_back(const pooled_ptr&, const std::string* undo, time_point limit);
    asio::awaitable<void> pause_before_repeat();
    answers answers_from(const pooled_ptr&, std::vector<statement_answer>);
    std::shared_ptr<pinned_connection> pinned_connection_of(const pooled_ptr&);
    net::failure unsent() const;

    // Functions that make connections and handle the end of connections.
    void want_connection();
    bool wants_connection() const;
    asio::awaitable<void> keep_connecting(std::shared_ptr<pool>);
    asio::awaitable<introduced> make_connection(time_point limit);
    void attempt_failed(const net::failure&);
    void pause_connecting();
    pooled_ptr join(introduced, bool to_wait_on);
    void meet(const server_info&);
    void gone(const pooled_ptr&);
    void leave_server(const net::failure&);
    void cut_all(const net::failure&);

    // Functions that end calls at their deadlines, and functions that keep connections alive.
    void watch_for(time_point limit) { deadline_timer_.watch_for(limit, shared_from_this()); }
    time_point next_limit() const;
    time_point idle_until(const pooled_connection&) const;
    time_point unwatched_until(const pooled_connection&) const;
    void look_at_limits(time_point now);
    asio::awaitable<void> use_idle(std::shared_ptr<pool>, pooled_ptr);
    void distrust(time_point unheard_since);
    asio::awaitable<void> clean(std::shared_ptr<pool>, pooled_ptr);

    const options how_;
    const store_context home_;
    runtime::monitor* const monitor_; // null: calling threads cannot run requests themselves
    const std::unique_ptr<connection_factory> maker_;
    connection_table table_;
    queue pausing_; // requests that pause before a retry
    net::connectivity_reporter connectivity_;
    net::backoff backoff_;
    const std::unique_ptr<alarm> rest_; // ends the pause of keep_connecting
    net::deadline_timer deadline_timer_;

    std::size_t current_ = 0;             // index of the current server in how_.servers
    std::vector<net::failure> round_;     // failure of each server that was tried in this round
    std::optional<net::failure> trouble_; // last failure of an attempt to connect
    std::size_t under_way_ = 0;           // number of requests, including queued requests
    std::size_t to_be_waited_on_ = 0;     // number of connections for waiters that are being made
    time_point not_before_ = time_point::min();
    time_point connected_since_{};
    std::optional<server_facts> facts_;
    std::string server_;      // identifier of the server that was connected last
    time_point last_heard_{}; // time of that server's last answer
    bool connecting_ = false;
    bool no_bells_ = false;
    bool closed_ = false;
};

/// Handle with which the store keeps a connection of the pool for itself. Its destructor tells the
/// pool that the store no longer needs the connection.
class pinned_connection_of_pool final : public pinned_connection {
public:
    pinned_connection_of_pool(std::shared_ptr<pool> of, connection_table::pooled_ptr what)
        : of_{std::move(of)}
        , what_{std::move(what)} {}
    pinned_connection_of_pool(const pinned_connection_of_pool&) = delete;
    ~pinned_connection_of_pool() override { of_->let_go(what_); }

    const connection_table::pooled_ptr& where() const { return what_; }
    bool is_cut() const noexcept override { return what_->at->is_cut(); }
    void cut() noexcept override {
        what_->at->cut({errc::outcome_unknown, "the wait on this connection was cancelled"});
        if (!what_->taken)
            of_->let_go(what_);
    }

private:
    const std::shared_ptr<pool> of_;
    const connection_table::pooled_ptr what_;
};

} // namespace holdfast::mysql
