// SPDX-License-Identifier: Apache-2.0
// Client that keeps one session alive (`session_client`), and the calling threads that run their
// own requests (`inline_caller`).
#pragma once

#include "net/deadlines.hpp"
#include "net/endpoint.hpp"
#include "runtime/blocking.hpp"
#include "runtime/monitor.hpp"
#include "runtime/process.hpp"
#include "zookeeper/connection.hpp"
#include "zookeeper/requests.hpp"
#include "zookeeper/server_list.hpp"
#include "zookeeper/session.hpp"
#include "zookeeper/session_expiry.hpp"

#include <boost/intrusive/list.hpp>

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::zookeeper {

/// A calling thread that runs its own request. One inline caller reads the socket for all inline
/// callers. The other inline callers sleep until another thread wakes them. Call every function
/// inside the monitor, unless its comment says "outside".
class inline_caller final : public runtime::interruptible,
                            public boost::intrusive::list_base_hook<> {
public:
    inline_caller(runtime::inline_call& caller, request& asked)
        : caller_{caller}
        , asked_{asked} {
        asked_.inline_caller = this;
    }
    inline_caller(const inline_caller&) = delete;
    ~inline_caller() { asked_.inline_caller = nullptr; }

    /// Returns whether this thread must still wait: its request has no result yet, and was not left
    /// to the background thread.
    bool waits() const {
        return asked_.standing != request::stage::settled && caller_.waits() &&
               !caller_.interrupted();
    }

    /// Wakes the thread, because its request has a result or because the thread must read the
    /// socket now. The thread may also wake without a reason. `by` is the inline caller that wakes
    /// it, or null for the background thread.
    void wake(runtime::inline_call* by) {
        if (reads_)
            reads_->interrupt();
        else if (by == &caller_)
            return; // the thread is awake
        else if (by)
            by->wake_behind(*woken_, woken_);
        else
            woken_->post();
    }
    void interrupt() noexcept override {
        if (reads_)
            reads_->interrupt();
        else
            woken_->post();
    }

    void rest() {
        caller_.run_outside(*this, [this]() noexcept { woken_->wait(); });
    }

    template <typename Work>
    void run_outside(Work work) {
        caller_.run_outside(*this, std::move(work));
    }

    /// Waits outside the monitor until the socket is readable. Returns false if no data came.
    bool wait_for(int socket, runtime::outside_wait& how) {
        bool came = false;
        reads_ = &how;
        caller_.run_outside(*this, [&how, &came, socket]() noexcept {
            came = how.until_readable(socket, duration::max());
        });
        reads_ = nullptr;
        return came;
    }

private:
    runtime::inline_call& caller_;
    request& asked_;
    const std::shared_ptr<runtime::semaphore> woken_ = std::make_shared<runtime::semaphore>();
    runtime::outside_wait* reads_ = nullptr;
};

/// Client that keeps a session alive while the session is needed. It connects, opens or resumes the
/// session, and sends requests and heartbeats. If a server is lost or silent, the client goes to
/// the next server.
///
///   none ──opened──▶ connected ◀──resumed── suspended
///     ▲                  │ └──lost, silent──▶ │
///     └──────ended───────┴────────────────────┘   the server or the client's clock says that the
///                                                 session ended, or the session is not needed
///
/// A request waits for a connection until its timeout. The request fails earlier if an attempt to
/// connect fails and there is only one server, or if every server refuses the client. If the
/// connection is lost while a request waits for its answer, the request is never sent again.
class session_client final : public std::enable_shared_from_this<session_client> {
public:
    session_client(options, store_context);
    session_client(const session_client&) = delete;

    /// Puts the request into the queue. Throws `net::failure` with the code `closed` or
    /// `overloaded`.
    void ask(shared_request);

    /// Waits until the request has a result. Throws `net::failure` if the request got no answer.
    asio::awaitable<void> settled(shared_request);
    /// Waits as settled() does, but not beyond the time `limit`.
    asio::awaitable<void> settled_by(shared_request, time_point limit);

    /// Returns a watch for the request. The server sets the watch only if it answers the request
    /// without an error.
    std::unique_ptr<watch> watch_with(const shared_request&, watches::shared_watcher);

    session_state state() const;
    /// Returns whether the ensemble may end the session within the next sixth of the session's
    /// timeout.
    bool may_end_soon() const;
    /// Returns whether the server may have ended the session without this client's knowledge,
    /// because this client has heard nothing for a long time. While the process runs, the client
    /// leaves a silent server earlier, so this happens only after a pause of the process.
    bool may_have_expired() const;
    /// Cuts the connection. The client then resumes the session over another connection.
    void connect_anew();
    std::shared_ptr<void> in_use();
    std::unique_ptr<watch> on_news(std::function<void(session_news)>);

    const options& how() const { return how_; }
    std::string address() const { return net::address_of(servers_.all()[servers_.present()]); }
    /// Returns the path as the server knows it, with the chroot in front.
    std::string below_chroot(const std::string& path) const;

    asio::awaitable<survey> look_around();

    asio::awaitable<void> depart();
    void close();

private:
    /// Maximum number of bytes in one write. Requests beyond this size stay in the queue, where
    /// they can still be given up at their deadline.
    static constexpr std::size_t batch_bytes_max = 256 * 1024;
    /// An unused session is closed after this time, or after two session timeouts if they are
    /// longer.
    static constexpr duration idle_most = std::chrono::minutes{1};
    /// Longest pause between two attempts to connect while the session is in use.
    static constexpr duration pause_max_in_use{250};

    /// A calling thread runs its own request only while at most this many requests are running,
    /// including its own. With more requests, the background thread is at least as fast: it sends
    /// many requests in one write, and no other thread must wake it to read answers. The number was
    /// found by measurements with 1 to 64 threads on two cores.
    static constexpr std::size_t inline_callers_max = 1;

    class use;
    class watching;
    class listening;
    using shared_connection = std::shared_ptr<connection>;
    using listener = std::shared_ptr<std::function<void(session_news)>>;

    // Functions that open, resume and close the session.
    void connect();
    asio::awaitable<void> keep_connected(std::shared_ptr<void> keep);
    asio::awaitable<std::optional<net::failure>> establish(connection&);
    asio::awaitable<void> begin_session(connection&);
    asio::awaitable<void> close_expired_session(connection&);
    void meet(const welcome&, time_point sent_at);
    void attempt_failed(const net::failure& why);
    void conversation_begins();
    void conversation_ended(const net::failure& why);
    void go_on_elsewhere();
    void end_session(bool may_be_alive);
    void tell(session_news);
    void use_ended();
    duration wanted_timeout() const;
    void report_other_timeout();
    /// Returns whether the session is needed. Watches need the session, too: if the session ends,
    /// the owners of the watches must be told.
    bool is_needed() const { return users_ > 0 || watches_.size() > 0; }
    bool wants_connection() const { return requests_.anything_queued() || is_needed(); }

    // Functions that send requests and read answers.
    asio::awaitable<net::failure> converse(connection&);
    asio::awaitable<void> finish_sending(std::shared_ptr<void> keep, shared_connection);
    void flush_soon();
    void flush();
    void compose_queued(std::string& out);
    void hear(std::string_view frame);
    void answered(const shared_request&);
    void withdraw(const shared_request&);
    void resume(request&);
    void fail(const std::vector<shared_request>&, const net::failure& why);
    void fail_later(const std::vector<shared_request>&, const net::failure& why);
    void say_goodbye(const shared_request&);

    // Functions for requests that calling threads run themselves.
    runtime::inline_call* caller() const;
    void settle_by(runtime::inline_call& caller, request&);
    void flush_by(inline_caller&);
    void wait_by(inline_caller&);
    bool read_by(inline_caller&);
    bool can_be_read_here() const;
    void hear_arrived(connection&);
    void hand_reading_on();

    // Function that uses an extra connection to a server, outside the session.
    asio::awaitable<server_seen> ask_for_facts(std::size_t number);

    // Functions that check timeouts and send heartbeats.
    void watch_for(time_point limit) { deadline_timer_.watch_for(limit, shared_from_this()); }
    time_point next_limit() const;
    void limit_reached(time_point now);
    void give_up_late(time_point now);
    void give_up(const std::vector<shared_request>& late, duration within);
    void send_heartbeat(time_point now);
    duration heartbeat_period() const { return session_.timeout / (users_ > 0 ? 12 : 6); }
    time_point silent_at() const;
    time_point idle_until() const;
    duration silence_max() const;
    net::failure unsent(duration within) const;
    net::failure unanswered(duration within) const;

    const options how_;
    const store_context home_;
    runtime::monitor* const monitor_; // null: calling threads cannot run requests themselves
    ensemble servers_;
    // Addresses of the servers; the indexes are those of servers_.
    std::vector<std::shared_ptr<const net::destination>> servers_at_;
    net::connectivity_reporter connectivity_;
    const std::unique_ptr<alarm> rest_;
    time_point not_before_ = time_point::min(); // earliest time of the next attempt to connect

    known_session session_;
    duration reported_timeout_{}; // last timeout that was reported as other than the wanted one
    // Session that has ended according to the client's clock, but whose nodes may still exist.
    std::optional<known_session> expired_session_;
    requests requests_;
    watches watches_;
    std::list<listener> listeners_;
    net::deadline_timer deadline_timer_;

    shared_connection line_; // connection that is being made or is in use
    std::vector<shared_connection> survey_connections_;
    boost::intrusive::list<inline_caller>
        inline_callers_;              // calling threads that wait, in order of arrival
    inline_caller* reader_ = nullptr; // inline caller that reads the socket for all; null: none
    runtime::outside_wait reading_;   // state of that inline caller's wait
    std::optional<net::failure> trouble_;
    time_point connected_since_{};
    time_point last_heard_{};
    time_point last_write_{};
    time_point heartbeat_due_{};
    time_point last_asked_{};
    std::size_t users_ = 0;
    bool running_ = false; // true: keep_connected is running
    bool connected_ = false;
    bool flush_is_due_ = false;
    bool fresh_ = false;  // true: a new session was opened, but the listeners were not told yet
    bool leaves_ = false; // true: the client itself is ending the current connection
    bool closed_ = false;
};

} // namespace holdfast::zookeeper
