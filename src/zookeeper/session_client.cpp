// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/session_client.hpp"

#include "net/byte_stream.hpp"
#include "net/deadlines.hpp"
#include "net/endpoint.hpp"
#include "runtime/background.hpp"
#include "zookeeper/protocol.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>

namespace holdfast::zookeeper {
namespace {

/// Longest session timeout that the client asks for. No ensemble grants more, and the timeout has
/// 32 bits in the protocol.
constexpr duration timeout_longest = std::chrono::hours{24};

/// Exception that says that the session has ended. No server has failed, so the client connects
/// again at once.
struct session_has_ended {};

} // namespace

class session_client::use {
public:
    explicit use(std::weak_ptr<session_client> of)
        : of_{std::move(of)} {}
    use(const use&) = delete;
    ~use() {
        if (const auto it = of_.lock())
            it->use_ended();
    }

private:
    const std::weak_ptr<session_client> of_;
};

class session_client::listening final : public watch {
public:
    explicit listening(listener mine)
        : mine_{std::move(mine)} {}
    // Leave the empty entry in the list. The list removes the entry at the next event.
    ~listening() override { *mine_ = nullptr; }

private:
    const listener mine_;
};

session_client::session_client(options how, store_context home)
    : how_{std::move(how)}
    , home_{std::move(home)}
    , monitor_{runtime::monitor::of(home_.executor)}
    , servers_{how_.servers, home_.random, how_.backoff_min, how_.backoff_max}
    , connectivity_{home_}
    , rest_{home_.time.make_alarm()}
    , deadline_timer_{home_, [this] { return next_limit(); },
                      [this](time_point now) { limit_reached(now); }} {
    for (const server_address& one : servers_.all())
        servers_at_.push_back(std::make_shared<const net::destination>(one, how_.tls));
    if (monitor_)
        monitor_->welcome(inline_callers_max);
}

duration session_client::wanted_timeout() const {
    const duration wanted =
        how_.session_timeout > duration::zero() ? how_.session_timeout : home_.lease_time;
    return std::min(wanted, timeout_longest);
}

session_state session_client::state() const {
    return {session_.id, session_.timeout, connected_, session_.term.alive_until()};
}

bool session_client::may_end_soon() const {
    const time_point now = home_.time.now();
    return session_.exists() && session_.term.alive_until() <= now + session_.timeout / 6;
}

bool session_client::may_have_expired() const {
    return connected_ && last_heard_ + session_.timeout / 2 <= home_.time.now();
}

void session_client::connect_anew() {
    if (!connected_ || closed_)
        return;
    leaves_ = true;
    line_->cut({errc::unreachable, "the session is resumed, so that it is known to live"});
}

std::shared_ptr<void> session_client::in_use() {
    auto mine = std::make_shared<use>(weak_from_this());
    if (users_++ == 0 && !closed_) {
        const time_point now = home_.time.now();
        const bool soon = last_write_ <= now - 2 * heartbeat_period();
        heartbeat_due_ = std::min(heartbeat_due_, soon ? now : now + heartbeat_period());
        watch_for(heartbeat_due_);
        connect();
    }
    return mine;
}

void session_client::use_ended() {
    if (--users_ == 0 && !closed_) { // after close() the clock may already be destroyed
        last_asked_ = home_.time.now();
        watch_for(idle_until());
    }
}

std::unique_ptr<watch> session_client::on_news(std::function<void(session_news)> whom) {
    listeners_.push_back(std::make_shared<std::function<void(session_news)>>(std::move(whom)));
    return std::make_unique<listening>(listeners_.back());
}

void session_client::tell(session_news what) {
    std::erase_if(listeners_, [](const listener& one) { return !*one; });
    for (const listener& one : std::vector<listener>{listeners_.begin(), listeners_.end()})
        if (const auto call = *one) // a copy, because the callback may destroy this listener
            call(what);
}

void session_client::connect() {
    if (!closed_ && !std::exchange(running_, true))
        runtime::run_in_background(home_, keep_connected(shared_from_this()));
}

asio::awaitable<void> session_client::keep_connected(std::shared_ptr<void>) {
    // The caller begins to wait only after this function has returned to it. So continue in a later
    // handler.
    co_await asio::post(home_.executor, asio::use_awaitable);
    while (!closed_ && wants_connection()) {
        if (home_.time.now() < not_before_) {
            co_await rest_->wait_until(not_before_);
            continue;
        }
        shared_connection line;
        std::optional<net::failure> failed;
        try {
            line = line_ = std::make_shared<connection>(home_, how_);
            failed = co_await establish(*line);
        } catch (const session_has_ended&) {
            line->cut({errc::unreachable, "the session has ended"});
            continue;
        } catch (const std::exception& why) { // out of memory, or no alarm: this loop must continue
            failed.emplace(errc::unreachable, why.what());
        }
        if (failed) {
            attempt_failed(*failed);
            continue;
        }
        conversation_begins();
        const net::failure why = co_await converse(*line);
        conversation_ended(why);
    }
    running_ = false;
}

/// Connects, and opens or resumes the session. Returns the failure, or an empty result after
/// success.
asio::awaitable<std::optional<net::failure>> session_client::establish(connection& line) {
    const auto timeout = session_.exists() ? std::optional{session_.timeout} : std::nullopt;
    const duration attempt_timeout = servers_.attempt_timeout(how_.connect_timeout, timeout);
    try {
        const time_point give_up_at = net::later(home_.time.now(), attempt_timeout);
        const net::time_limit limit{home_, give_up_at, net::give_up(line, attempt_timeout)};
        co_await line.dial(servers_at_[servers_.present()], give_up_at);
        co_await begin_session(line);
        if (monitor_)
            line.make_bare();
        co_return std::nullopt;
    } catch (const session_has_ended&) {
        throw;
    } catch (...) {
        const net::failure why = net::trouble_of_attempt();
        line.cut(why);
        co_return net::no_connection(address(), why);
    }
}

asio::awaitable<void> session_client::begin_session(connection& line) {
    const time_point now = home_.time.now();
    if (session_.exists() && session_.is_long_gone(now))
        end_session(false);
    if (expired_session_ && !expired_session_->is_long_gone(now))
        co_await close_expired_session(line);
    const greeting said = session_.to_greet(wanted_timeout());
    const welcome told = co_await greet(line, said);
    meet(told, now);
    const credentials who = net::credentials_now({how_.user, how_.password}, how_.credentials);
    if (!who.user.empty())
        co_await log_in(line, who);
}

/// Closes an earlier session that has ended by the client's clock. The server may still keep that
/// session, whose nodes would then block other clients.
asio::awaitable<void> session_client::close_expired_session(connection& line) {
    const greeting said = expired_session_->to_greet({});
    const welcome told = co_await greet(line, said);
    const bool lives = told.id == expired_session_->id && told.timeout_ms > 0;
    if (lives)
        co_await say_farewell(line);
    expired_session_.reset();
    throw session_has_ended{};
}

void session_client::meet(const welcome& told, time_point sent_at) {
    const bool granted = told.id != 0 && told.timeout_ms > 0;
    if (!session_.exists()) {
        if (!granted)
            throw net::failure{errc::unreachable, "the server granted no session"};
        session_.opened(told, sent_at);
        fresh_ = true;
        return;
    }
    // Compare the granted session with the requested session, because some servers grant another
    // session if they do not know the requested one.
    if (!granted || told.id != session_.id) {
        end_session(false);
        throw session_has_ended{};
    }
    session_.resumed(told, sent_at);
}

void session_client::attempt_failed(const net::failure& why) {
    line_.reset();
    if (closed_)
        return;
    connectivity_.gone(address(), why);
    trouble_ = why;
    go_on_elsewhere();
    const bool no_hope = servers_.size() == 1 || why.code() == errc::refused;
    if (servers_.all_failed() && no_hope)
        fail(requests_.drop_queued(), why);
}

void session_client::go_on_elsewhere() {
    duration pause = servers_.leave(home_.random());
    if (users_ > 0)
        pause = std::min(pause, pause_max_in_use);
    not_before_ = net::later(home_.time.now(), pause);
}

void session_client::conversation_begins() {
    connected_ = true;
    connected_since_ = last_heard_ = last_asked_ = heartbeat_due_ = home_.time.now();
    leaves_ = false;
    const bool opened = std::exchange(fresh_, false);
    // Count only the opening of a session as a write, because the ensemble resumes a session
    // without a write.
    last_write_ = opened ? connected_since_ : time_point::min();
    connectivity_.back(address());
    trouble_.reset();
    report_other_timeout();
    watch_for(heartbeat_due_);
    if (!opened)
        watches_.tell_all();
    tell(opened ? session_news::opened : session_news::resumed);
}

/// Reports the granted session timeout if it differs from the wanted timeout, once for each value.
/// So the user knows how long the holds of a dead client block other clients.
void session_client::report_other_timeout() {
    const duration wanted = wanted_timeout(), granted = session_.timeout;
    if (granted == wanted || granted == reported_timeout_ || !home_.tell)
        return;
    reported_timeout_ = granted;
    const char* const bound = granted < wanted ? "maxSessionTimeout" : "minSessionTimeout";
    const std::string from = address();
    const std::string text = "the session timeout is " + std::to_string(granted.count()) +
                             " ms, and " + std::to_string(wanted.count()) +
                             " ms were requested: the ensemble limits it (" + bound +
                             "). If the client dies, its locks stay held for that time";
    home_.tell({.kind = event_kind::impaired,
                .name = from.data(),
                .name_size = from.size(),
                .text = text.data(),
                .text_size = text.size()});
}

void session_client::conversation_ended(const net::failure& why) {
    connected_ = false;
    const std::string from = address();
    line_.reset();
    const bool garbage = why.code() == store_errc::protocol;
    const net::failure lost{why.code(), "connection to " + from + " lost: " + why.text()};
    if (!closed_ && !leaves_) {
        connectivity_.gone(from, lost);
        trouble_ = lost;
        // Reset the backoff only after a longer connection, because a server may close each new
        // connection at once.
        if (home_.time.now() - connected_since_ > how_.backoff_max)
            servers_.served();
        go_on_elsewhere();
    }
    fail(requests_.drop_written(),
         {garbage ? why.code() : make_error_code(errc::outcome_unknown), lost.text()});
    if (closed_)
        return;
    if (session_.exists()) {
        tell(session_news::suspended);
        watch_for(session_.term.alive_until());
    }
}

void session_client::end_session(bool may_be_alive) {
    if (!session_.exists())
        return;
    if (may_be_alive) {
        expired_session_ = std::move(session_);
        expired_session_->last_zxid = 0; // zero makes every server accept the greeting
    }
    session_ = {};
    fresh_ = false;
    watches_.tell_all();
    tell(session_news::ended);
}

std::string session_client::below_chroot(const std::string& path) const {
    if (how_.chroot.empty())
        return path;
    return path == "/" ? how_.chroot : how_.chroot + path;
}

asio::awaitable<void> session_client::depart() {
    if (closed_ || !session_.exists())
        co_return;
    const auto goodbye = std::make_shared<request>(message{.what = opcode::close_session});
    say_goodbye(goodbye);
    auto enough = [this, goodbye] { withdraw(goodbye); };
    const net::time_limit limit{home_, net::later(home_.time.now(), how_.connect_timeout), enough};
    try {
        co_await settled(goodbye);
    } catch (const net::failure&) { // the session then ends by its timeout
    }
}

void session_client::close() {
    if (std::exchange(closed_, true)) // there may be a second call after the clock was destroyed
        return;
    rest_->ring();
    deadline_timer_.close();
    const net::failure why{errc::closed, "the client is closed"};
    if (line_)
        line_->cut(why);
    for (const shared_connection& each : survey_connections_)
        each->cut(why);
    fail_later(requests_.drop_written(), why);
    fail_later(requests_.drop_queued(), why);
}

// Functions of the session client that send requests and read answers. They run while there is a
// connection.

class session_client::watching final : public watch {
public:
    watching(std::weak_ptr<session_client> home, watches::shared_watcher mine)
        : home_{std::move(home)}
        , mine_{std::move(mine)} {}
    ~watching() override {
        mine_->tell = {};
        if (const auto home = home_.lock())
            home->watches_.remove(mine_);
    }

private:
    const std::weak_ptr<session_client> home_;
    const watches::shared_watcher mine_;
};

std::unique_ptr<watch> session_client::watch_with(const shared_request& asked,
                                                  watches::shared_watcher who) {
    asked->on_answer = [this, who](const request& answer) {
        if (answer.error == answered::well && who->tell)
            watches_.add(who);
    };
    return std::make_unique<watching>(weak_from_this(), std::move(who));
}

void session_client::ask(shared_request what) {
    if (closed_)
        throw net::failure{errc::closed, "the client is closed"};
    if (requests_.size() >= how_.requests_max)
        throw net::failure{errc::overloaded, address() + ": " + std::to_string(requests_.size()) +
                                                 " requests wait already"};
    const time_point now = last_asked_ = home_.time.now();
    what->under_way.emplace(monitor_);
    requests_.ask(std::move(what), now);
    watch_for(now + how_.command_timeout);
    if (!connected_)
        connect();
    else if (!caller() && !flush_is_due_ && line_->can_send())
        flush_soon();
}

asio::awaitable<void> session_client::settled(shared_request asked) {
    if (runtime::inline_call* const calling = caller())
        settle_by(*calling, *asked);
    auto begin = [this, &asked](auto handler) {
        request::waiter{std::move(handler)}.swap(asked->resume);
        if (auto slot = asio::get_associated_cancellation_slot(asked->resume); slot.is_connected())
            slot.assign([weak = weak_from_this(), asked](asio::cancellation_type) {
                if (const auto it = weak.lock())
                    it->withdraw(asked);
            });
    };
    if (asked->standing != request::stage::settled)
        co_await asio::async_initiate<const asio::deferred_t, void()>(begin, asio::deferred);
    if (asked->failed)
        throw net::failure{*asked->failed};
}

void session_client::withdraw(const shared_request& asked) {
    if (asked->standing == request::stage::settled)
        return;
    requests_.give_up(*asked);
    fail_later({asked}, {asio::error::operation_aborted, "cancelled"});
}

asio::awaitable<net::failure> session_client::converse(connection& line) {
    try {
        for (;;) {
            while (const auto frame = line.next())
                hear(*frame);
            flush(); // callers that got an answer may have queued new requests
            co_await line.receive();
        }
    } catch (const net::failure& why) {
        line.cut(why);
        co_return why;
    } catch (const std::exception& why) {
        const net::failure told{errc::outcome_unknown, why.what()};
        line.cut(told);
        co_return told;
    }
}

void session_client::flush_soon() {
    flush_is_due_ = true;
    asio::post(home_.executor, [this, keep = shared_from_this()] {
        flush_is_due_ = false;
        flush();
    });
}

void session_client::flush() {
    while (connected_ && line_->can_send()) {
        std::string& out = line_->outbox();
        compose_queued(out);
        if (out.empty())
            return;
        if (!line_->send())
            runtime::run_in_background(home_, finish_sending(shared_from_this(), line_));
    }
}

void session_client::compose_queued(std::string& out) {
    const time_point now = home_.time.now();
    while (out.size() < batch_bytes_max) {
        const shared_request next = requests_.write_next(out, now);
        if (!next)
            break;
        if (next->what.is_write())
            last_write_ = now;
    }
    if (out.empty())
        return;
    session_.last_sent = now;
    watch_for(silent_at());
}

asio::awaitable<void> session_client::finish_sending(std::shared_ptr<void>,
                                                     shared_connection line) {
    co_await line->send_rest();
    if (line_ == line)
        flush();
}

void session_client::hear(std::string_view frame) {
    const requests::heard said = requests_.hear(frame);
    session_.saw(said.zxid);
    if (said.event)
        return watches_.heard(*said.event);
    last_heard_ = home_.time.now();
    if (said.done && said.is_write)
        session_.term.write_answered(*said.done);
    if (said.done)
        session_.term.answered(*said.done, last_heard_);
    const bool over = said.error == answered::session_expired;
    if (over)
        end_session(false);
    if (said.answered)
        answered(said.answered);
    if (over || said.error == answered::session_moved)
        throw failure_of(said.error, "a request");
}

void session_client::answered(const shared_request& whose) {
    if (whose->on_answer)
        std::exchange(whose->on_answer, {})(*whose);
    resume(*whose);
}

void session_client::resume(request& done) {
    if (done.inline_caller)
        return done.inline_caller->wake(monitor_->inline_caller());
    request::waiter waiter;
    waiter.swap(done.resume);
    if (!waiter)
        return;
    if (monitor_ && monitor_->inline_caller()) // a calling thread is running its own request
        return asio::post(home_.executor, std::move(waiter));
    try {
        std::move(waiter)();
    } catch (...) {
        // The user's completion handler has thrown an exception. Let the function that runs the
        // executor throw this exception, as usual in Asio. The exception must not end this loop.
        auto throw_again = [bug = std::current_exception()] { std::rethrow_exception(bug); };
        asio::post(home_.executor, std::move(throw_again));
    }
}

void session_client::fail(const std::vector<shared_request>& all, const net::failure& why) {
    const auto shared = std::make_shared<const net::failure>(why);
    for (const shared_request& one : all)
        one->failed = shared;
    for (const shared_request& one :
         all) // mark all requests as failed first, because a resumed caller may change anything
        resume(*one);
}

/// Marks the requests as failed now. Resumes their callers only after this call has returned.
void session_client::fail_later(const std::vector<shared_request>& all, const net::failure& why) {
    const auto shared = std::make_shared<const net::failure>(why);
    for (const shared_request& one : all) {
        one->failed = shared;
        if (one->inline_caller)
            one->inline_caller->wake(monitor_->inline_caller());
        request::waiter waiter;
        waiter.swap(one->resume);
        if (waiter)
            asio::post(home_.executor, std::move(waiter));
    }
}

/// Closes the session at the server. The connection is cut when the answer has come.
void session_client::say_goodbye(const shared_request& goodbye) {
    goodbye->on_answer = [this](const request&) {
        leaves_ = true;
        end_session(false);
        line_->cut({errc::unreachable, "the session is not needed any more"});
    };
    ask(goodbye);
}

// Requests that calling threads send themselves, and whose answers they read.
//
// All calling threads that run their own requests (inline callers) share the session's connection.
// Each of them sends its own request. One of them, the reader, reads the answers of all: it wakes
// the inline callers whose answers came, and posts the other answers to the background thread. When
// the reader leaves, the inline caller that came last continues to read; without inline callers,
// the background thread reads.
//
// The operating system may not run the reading thread for a long time. So at each heartbeat
// (`limit_reached`), the background thread also reads the data that have arrived.

/// Returns this thread's `inline_call` object if the thread is inside the client's monitor and may
/// run its request itself. Otherwise returns null.
runtime::inline_call* session_client::caller() const {
    return monitor_ && connected_ && line_->bare() ? monitor_->inline_caller() : nullptr;
}

/// Runs the request on the calling thread. If the request then still has no result, the caller
/// waits through Asio.
void session_client::settle_by(runtime::inline_call& caller, request& asked) {
    inline_caller mine{caller, asked};
    flush_by(mine);
    wait_by(mine);
}

/// Sends the queued requests. While the calling thread writes, it is outside the monitor, so other
/// threads can queue requests. These requests are then sent, too.
void session_client::flush_by(inline_caller& mine) {
    const shared_connection line = line_;
    while (connected_ && line_ == line && line->can_send()) {
        compose_queued(line->outbox());
        if (line->outbox().empty() || !line->begin_sending())
            return;
        mine.run_outside([&line]() noexcept { line->write_begun(); });
        if (!line->end_sending())
            runtime::run_in_background(home_, finish_sending(shared_from_this(), line));
    }
}

void session_client::wait_by(inline_caller& mine) {
    inline_callers_.push_back(mine);
    while (mine.waits())
        if (!read_by(mine) && mine.waits())
            mine.rest();
    inline_callers_.erase(inline_callers_.iterator_to(mine));
    hand_reading_on();
}

bool session_client::can_be_read_here() const {
    return connected_ && line_->bare() && !line_->is_cut() && !reader_;
}

/// Reads answers until this thread's request has a result. If another thread is reading, returns
/// false; the other thread then wakes this thread.
bool session_client::read_by(inline_caller& mine) {
    if (!can_be_read_here())
        return false;
    const shared_connection line = line_;
    reader_ = &mine;
    line->bare()->look_away(true);
    bool well = true;
    while (mine.waits() && !line->is_cut() && (well = reading_.prepare()))
        if (mine.wait_for(line->bare()->number(), reading_))
            hear_arrived(*line);
    reader_ = nullptr;
    if (!well)
        line->bare()->look_away(false);
    return well && !line->is_cut();
}

void session_client::hear_arrived(connection& line) {
    try {
        line.take_arrived();
        while (const auto frame = line.next())
            hear(*frame);
    } catch (const net::failure& why) {
        line.cut(why);
    } catch (const std::exception& why) {
        line.cut({errc::outcome_unknown, why.what()});
    }
}

/// Lets another thread read from the socket: the calling thread that arrived last, because it will
/// probably wait longest. If no calling thread waits, the background thread reads.
void session_client::hand_reading_on() {
    if (!can_be_read_here() || !line_->bare()->looks_away())
        return;
    if (inline_callers_.empty())
        line_->bare()->look_away(false);
    else
        inline_callers_.back().wake(monitor_->inline_caller());
}

// Timeouts of the session client, and its heartbeats.

namespace {

/// Path of the node that a heartbeat checks. The check counts as a write even if the node does not
/// exist, for example because the chroot was deleted.
constexpr const char* always_there = "/";

} // namespace

/// Returns for how long the client tolerates a missing answer before it leaves the server. If there
/// are other servers, enough time must remain to resume the session at one of them.
duration session_client::silence_max() const {
    return session_.timeout / (servers_.size() > 1 ? 6 : 3);
}

time_point session_client::silent_at() const {
    const auto owed_since = requests_.owed_since();
    return owed_since ? std::max(*owed_since, last_heard_) + silence_max() : time_point::max();
}

time_point session_client::idle_until() const {
    if (is_needed() || requests_.oldest())
        return time_point::max();
    return last_asked_ + std::max(idle_most, 2 * session_.timeout);
}

time_point session_client::next_limit() const {
    const auto oldest = requests_.oldest();
    const time_point first = oldest ? *oldest + how_.command_timeout : time_point::max();
    if (connected_)
        return std::min({first, silent_at(), heartbeat_due_, idle_until()});
    if (users_ > 0 && session_.exists())
        return std::min(first, session_.term.alive_until());
    return first;
}

void session_client::limit_reached(time_point now) {
    if (connected_ && line_->bare() && line_->bare()->looks_away())
        hear_arrived(*line_); // the thread that reads may have been suspended for a long time
    if (connected_) {
        if (silent_at() <= now)
            line_->cut(unanswered(silence_max()));
        else if (idle_until() <= now)
            say_goodbye(std::make_shared<request>(message{.what = opcode::close_session}));
        else if (heartbeat_due_ <= now)
            send_heartbeat(now);
    } else if (users_ > 0 && session_.term.alive_until() <= now) {
        end_session(true);
    }
    give_up_late(now);
}

/// Sends a heartbeat: a ping, or a write if the session is in use and its last write is old. A ping
/// alone proves nothing. The answer to a write also proves that the ensemble has received the
/// requests that were answered half a session timeout earlier (`session_lease`). So the first write
/// after an idle time confirms a ping that was sent at most two thirds of the timeout ago. At least
/// a third of the timeout is left then, minus the possible drift of the clocks.
void session_client::send_heartbeat(time_point now) {
    heartbeat_due_ = now + heartbeat_period();
    if (users_ > 0 && last_write_ <= now - 2 * heartbeat_period()) {
        const std::vector<std::string> checked{below_chroot(always_there)};
        last_write_ = now; // the heartbeat is sent at once
        requests_.ask(std::make_shared<request>(check_message(checked)), now);
        flush();
    } else if (session_.last_sent > now - heartbeat_period()) {
        if (users_ == 0)
            heartbeat_due_ = session_.last_sent + heartbeat_period();
    } else if (line_->can_send()) {
        requests_.write_ping(line_->outbox(), now);
        flush();
    }
}

void session_client::give_up_late(time_point now) {
    const std::vector<shared_request> late = requests_.late(now - how_.command_timeout);
    if (!late.empty())
        give_up(late, how_.command_timeout);
}

void session_client::give_up(const std::vector<shared_request>& late, duration within) {
    std::vector<shared_request> sent, kept_back;
    for (const shared_request& one : late)
        (one->number != 0 ? sent : kept_back).push_back(one);
    fail(sent, unanswered(within));
    fail(kept_back, unsent(within));
}

/// Waits until the request has a result or the time is `limit`. Does not cut the connection at
/// `limit`, because after each change of the connection all watches must be set again, even if the
/// server was only slow. So a repeated request uses the same connection.
///
/// The session client leaves a silent server after a sixth of the session's timeout, or after a
/// third if there is only one server. A hold lasts at least 5/12 of the timeout after the answer to
/// a heartbeat. So a quarter of the timeout remains to resume the session at another server and to
/// renew the hold there. With only one server, a twelfth remains.
asio::awaitable<void> session_client::settled_by(shared_request asked, time_point limit) {
    if (limit >= asked->asked_at + how_.command_timeout)
        co_return co_await settled(asked);
    auto late = [this, keep = shared_from_this(), asked, limit] {
        if (asked->standing == request::stage::settled)
            return;
        requests_.give_up(*asked);
        give_up({asked}, limit - asked->asked_at);
    };
    const net::time_limit ends{home_, limit, late};
    co_await settled(asked);
}

net::failure session_client::unsent(duration within) const {
    const std::string reason = trouble_     ? trouble_->text()
                               : connected_ ? address() + " takes no more requests"
                                            : "no connection to " + address() + " yet";
    return {errc::unreachable,
            "not sent within " + std::to_string(within.count()) + " ms: " + reason};
}

net::failure session_client::unanswered(duration within) const {
    return {errc::outcome_unknown,
            address() + " did not answer within " + std::to_string(within.count()) + " ms"};
}

// Function that reports on the ensemble. The function asks each server over a separate connection.

asio::awaitable<survey> session_client::look_around() {
    survey all{.over_tls = how_.tls.has_value()};
    for (std::size_t number = 0; number < servers_.size(); ++number) {
        if (closed_)
            throw net::failure{errc::closed, "the client is closed"};
        server_seen seen = co_await ask_for_facts(number);
        all.servers.push_back(std::move(seen));
    }
    co_return all;
}

asio::awaitable<server_seen> session_client::ask_for_facts(std::size_t number) {
    server_seen seen{.address = net::address_of(servers_.all()[number])};
    const auto line = std::make_shared<connection>(home_, how_);
    survey_connections_.push_back(line);
    const duration attempt_timeout = how_.connect_timeout;
    auto give_up = [&line, attempt_timeout] {
        line->cut({errc::unreachable, "no answer within " +
                                          std::to_string(attempt_timeout.count()) + " ms (" +
                                          line->occupation() + ")"});
    };
    try {
        const time_point give_up_at = net::later(home_.time.now(), attempt_timeout);
        const net::time_limit limit{home_, give_up_at, give_up};
        co_await line->dial(servers_at_[number], give_up_at);
        line->occupied_with("waiting for its answer to srvr");
        const time_point asked_at = home_.time.now();
        line->outbox() += word_for_facts;
        if (!line->send())
            co_await line->send_rest();
        const std::string said = co_await line->words();
        if (!closed_) // after close() the clock may already be destroyed
            seen.delay = home_.time.now() - asked_at;
        read_facts(said, seen);
    } catch (const net::failure& why) {
        seen.trouble = why.text();
    } catch (const std::exception& why) {
        seen.trouble = why.what();
    }
    line->cut({errc::unreachable, "the survey is over"});
    std::erase(survey_connections_, line);
    co_return seen;
}

} // namespace holdfast::zookeeper
