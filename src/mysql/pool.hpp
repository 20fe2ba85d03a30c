// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/classify.hpp"
#include "mysql/seats.hpp"
#include "net/backoff.hpp"
#include "net/lookout.hpp"
#include "net/presence.hpp"
#include "runtime/monitor.hpp"

#include <holdfast/mysql/options.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// Pool of the connections of one client. The pool makes connections, lends them to requests, and
/// watches their deadlines. It leaves a server that accepts no writes. All connections lead to the
/// same server at a time.
///
///   a request ──▶ waits for a connection ──▶ is sent ──▶ is answered
///                   │                          └─▶ late: the connection is cut, outcome_unknown
///                   └─▶ late, or no server can be reached: unreachable
///
/// A calling thread runs its request itself while there are fewer requests than connections. With
/// more requests the background thread runs them, and handles many requests each time it wakes.
///
/// Coroutines that run in the pool keep it alive, so the pool may outlive the store.
class pool final : public std::enable_shared_from_this<pool> {
public:
    using maker_of_lines =
        std::function<std::unique_ptr<line_maker>(const store_context&, const options&)>;
    pool(options, store_context, const maker_of_lines&);
    pool(const pool&) = delete;

    // The functions of `database`.
    asio::awaitable<answers> run(statements&, call_wishes);
    asio::awaitable<std::shared_ptr<carrier>> connection_to_wait_on(time_point limit);
    const std::optional<server_facts>& facts() const { return facts_; }
    bool has_bells() const;
    void no_bells_here() noexcept { no_bells_ = true; }
    const options& how() const { return how_; }
    std::string address() const;
    void close() noexcept;

    // Function that the destructor of `carrier_of_pool` calls.
    void let_go(const seats::place&);

private:
    class lent;
    class room;
    using place = seats::place;

    static constexpr int repeats_max = 3;
    static constexpr duration repeat_pause_max{40};
    /// Longest pause between two attempts to connect while this client holds a lock.
    static constexpr duration pause_max_while_holding{250};
    /// Longest time after the last answer during which the end of a connection may stay unnoticed.
    static constexpr duration unwatched_max{100};

    // Functions for requests, defined in pool.cpp.
    void admit(const call_wishes&) const;
    asio::awaitable<lent> seat_for(const call_wishes&, time_point limit);
    place named_by(const call_wishes&) const;
    place take_free();
    void take_back(const place&);
    asio::awaitable<std::optional<answers>> carry_out(const place&, statements&, const call_wishes&,
                                                      time_point limit, int tries);
    asio::awaitable<std::vector<said>> ask(const place&, const std::vector<std::string>&,
                                           time_point limit);
    asio::awaitable<void> roll_back(const place&, const std::string* undo, time_point limit);
    asio::awaitable<void> pause_before_repeat();
    answers answers_from(const place&, std::vector<said>);
    std::shared_ptr<carrier> carrier_of(const place&);
    net::failure unsent() const;

    // Functions for connections, defined in pool_connecting.cpp.
    void want_connection();
    bool wants_connection() const;
    asio::awaitable<void> keep_connecting(std::shared_ptr<pool>);
    asio::awaitable<introduced> make_line(time_point limit);
    void attempt_failed(const net::failure&);
    void pause_connecting();
    place join(introduced, bool to_wait_on);
    void meet(const portrait&);
    void gone(const place&);
    void leave_server(const net::failure&);
    void cut_all(const net::failure&);

    // Functions for deadlines, defined in pool_watching.cpp.
    void watch_for(time_point limit) { lookout_.watch_for(limit, shared_from_this()); }
    time_point next_limit() const;
    time_point idle_until(const seat&) const;
    time_point unwatched_until(const seat&) const;
    void look_at_limits(time_point now);
    asio::awaitable<void> use_idle(std::shared_ptr<pool>, place);
    void distrust(time_point unheard_since);
    asio::awaitable<void> clean(std::shared_ptr<pool>, place);

    const options how_;
    const store_context home_;
    runtime::monitor* const entrance_; // null: calling threads cannot run requests themselves
    const std::unique_ptr<line_maker> maker_;
    seats seats_;
    queue pausing_; // requests that pause before a retry
    net::presence presence_;
    net::backoff backoff_;
    const std::unique_ptr<alarm> rest_; // ends the pause of keep_connecting
    net::lookout lookout_;

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

} // namespace holdfast::mysql
