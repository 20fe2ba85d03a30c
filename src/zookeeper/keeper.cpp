// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/keeper.hpp"

#include "net/attempt.hpp"
#include "net/credentials.hpp"
#include "net/later.hpp"
#include "net/time_limit.hpp"
#include "runtime/background.hpp"
#include "zookeeper/handshake.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::zookeeper {
namespace {

/// Longest session timeout that the client asks for. No ensemble grants more, and the protocol
/// stores the timeout in 32 bits.
constexpr duration timeout_longest = std::chrono::hours{24};

/// Thrown when the session has ended. The server did not fail, so the client connects again at
/// once.
struct session_has_ended {};

} // namespace

class keeper::use {
public:
    explicit use(std::weak_ptr<keeper> of)
        : of_{std::move(of)} {}
    use(const use&) = delete;
    ~use() {
        if (const auto it = of_.lock())
            it->use_ended();
    }

private:
    const std::weak_ptr<keeper> of_;
};

class keeper::listening final : public watch {
public:
    explicit listening(listener mine)
        : mine_{std::move(mine)} {}
    // the list removes the empty entry at the next event
    ~listening() override { *mine_ = nullptr; }

private:
    const listener mine_;
};

keeper::keeper(options how, store_context home)
    : how_{std::move(how)}
    , home_{std::move(home)}
    , entrance_{runtime::monitor::of(home_.executor)}
    , servers_{how_.servers, home_.random, how_.backoff_min, how_.backoff_max}
    , presence_{home_}
    , rest_{home_.time.make_alarm()}
    , lookout_{home_, [this] { return next_limit(); },
               [this](time_point now) { limit_reached(now); }} {
    for (const server_address& one : servers_.all())
        servers_at_.push_back(std::make_shared<const net::destination>(one, how_.tls));
    if (entrance_)
        entrance_->welcome(visitors_max);
}

duration keeper::wanted_timeout() const {
    const duration wanted =
        how_.session_timeout > duration::zero() ? how_.session_timeout : home_.lease_time;
    return std::min(wanted, timeout_longest);
}

session_state keeper::state() const {
    return {session_.id, session_.timeout, connected_, session_.term.alive_until()};
}

bool keeper::may_end_soon() const {
    const time_point now = home_.time.now();
    return session_.exists() && session_.term.alive_until() <= now + session_.timeout / 6;
}

void keeper::connect_anew() {
    if (!connected_ || closed_)
        return;
    leaves_ = true;
    line_->cut({errc::unreachable, "the session is resumed, so that it is known to live"});
}

std::shared_ptr<void> keeper::in_use() {
    auto mine = std::make_shared<use>(weak_from_this());
    if (users_++ == 0 && !closed_) {
        const time_point now = home_.time.now();
        const bool soon = last_write_ <= now - 2 * beat_period();
        beat_due_ = std::min(beat_due_, soon ? now : now + beat_period());
        watch_for(beat_due_);
        connect();
    }
    return mine;
}

void keeper::use_ended() {
    if (--users_ == 0 && !closed_) { // after close() the clock may already be destroyed
        last_asked_ = home_.time.now();
        watch_for(idle_until());
    }
}

std::unique_ptr<watch> keeper::on_news(std::function<void(session_news)> whom) {
    listeners_.push_back(std::make_shared<std::function<void(session_news)>>(std::move(whom)));
    return std::make_unique<listening>(listeners_.back());
}

void keeper::tell(session_news what) {
    std::erase_if(listeners_, [](const listener& one) { return !*one; });
    for (const listener& one : std::vector<listener>{listeners_.begin(), listeners_.end()})
        if (const auto call = *one) // a copy, because the callback may destroy this listener
            call(what);
}

void keeper::connect() {
    if (!closed_ && !std::exchange(running_, true))
        runtime::run_in_background(home_, keep_connected(shared_from_this()));
}

asio::awaitable<void> keeper::keep_connected(std::shared_ptr<void>) {
    // Do not connect inside the caller's own call, because the caller does not sleep yet.
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
asio::awaitable<std::optional<net::failure>> keeper::establish(connection& line) {
    const auto timeout = session_.exists() ? std::optional{session_.timeout} : std::nullopt;
    const duration patience = servers_.patience(how_.connect_timeout, timeout);
    try {
        const time_point give_up_at = net::later(home_.time.now(), patience);
        const net::time_limit limit{home_, give_up_at, net::give_up(line, patience)};
        co_await line.dial(servers_at_[servers_.present()], give_up_at);
        co_await begin_session(line);
        if (entrance_)
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

asio::awaitable<void> keeper::begin_session(connection& line) {
    const time_point now = home_.time.now();
    if (session_.exists() && session_.is_long_gone(now))
        end_session(false);
    if (corpse_ && !corpse_->is_long_gone(now))
        co_await bury(line);
    const greeting said = session_.to_greet(wanted_timeout());
    const welcome told = co_await greet(line, said);
    meet(told, now);
    const credentials who = net::credentials_now({how_.user, how_.password}, how_.credentials);
    if (!who.user.empty())
        co_await log_in(line, who);
}

/// Closes an earlier session that has ended by the client's clock. The server may still keep that
/// session, and its nodes block other clients.
asio::awaitable<void> keeper::bury(connection& line) {
    const greeting said = corpse_->to_greet({});
    const welcome told = co_await greet(line, said);
    const bool lives = told.id == corpse_->id && told.timeout_ms > 0;
    if (lives)
        co_await say_farewell(line);
    corpse_.reset();
    throw session_has_ended{};
}

void keeper::meet(const welcome& told, time_point sent_at) {
    const bool granted = told.id != 0 && told.timeout_ms > 0;
    if (!session_.exists()) {
        if (!granted)
            throw net::failure{errc::unreachable, "the server granted no session"};
        session_.opened(told, sent_at);
        fresh_ = true;
        return;
    }
    // Some servers do not report that they do not know the session. They grant another session
    // instead.
    if (!granted || told.id != session_.id) {
        end_session(false);
        throw session_has_ended{};
    }
    session_.resumed(told, sent_at);
}

void keeper::attempt_failed(const net::failure& why) {
    line_.reset();
    if (closed_)
        return;
    presence_.gone(address(), why);
    trouble_ = why;
    go_on_elsewhere();
    const bool no_hope = servers_.size() == 1 || why.code() == errc::refused;
    if (servers_.all_failed() && no_hope)
        fail(requests_.drop_queued(), why);
}

void keeper::go_on_elsewhere() {
    duration pause = servers_.leave(home_.random());
    if (users_ > 0)
        pause = std::min(pause, pause_max_in_use);
    not_before_ = net::later(home_.time.now(), pause);
}

void keeper::conversation_begins() {
    connected_ = true;
    connected_since_ = last_heard_ = last_asked_ = beat_due_ = home_.time.now();
    leaves_ = false;
    const bool opened = std::exchange(fresh_, false);
    // Resuming a session is not a write.
    last_write_ = opened ? connected_since_ : time_point::min();
    presence_.back(address());
    trouble_.reset();
    watch_for(beat_due_);
    if (!opened)
        watches_.tell_all();
    tell(opened ? session_news::opened : session_news::resumed);
}

void keeper::conversation_ended(const net::failure& why) {
    connected_ = false;
    const std::string from = address();
    line_.reset();
    const bool garbage = why.code() == store_errc::protocol;
    const net::failure lost{why.code(), "connection to " + from + " lost: " + why.text()};
    if (!closed_ && !leaves_) {
        presence_.gone(from, lost);
        trouble_ = lost;
        // Do not reset the backoff if the server accepts connections but closes them at once.
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

void keeper::end_session(bool may_be_alive) {
    if (!session_.exists())
        return;
    if (may_be_alive) {
        corpse_ = std::move(session_);
        corpse_->last_zxid = 0; // zero makes every server accept the greeting
    }
    session_ = {};
    fresh_ = false;
    watches_.tell_all();
    tell(session_news::ended);
}

std::string keeper::below_chroot(const std::string& path) const {
    if (how_.chroot.empty())
        return path;
    return path == "/" ? how_.chroot : how_.chroot + path;
}

asio::awaitable<void> keeper::depart() {
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

void keeper::close() {
    if (std::exchange(closed_, true)) // the destruction of the clock may cause a second call
        return;
    rest_->ring();
    lookout_.close();
    const net::failure why{errc::closed, "the client is closed"};
    if (line_)
        line_->cut(why);
    for (const shared_connection& each : visits_)
        each->cut(why);
    fail_later(requests_.drop_written(), why);
    fail_later(requests_.drop_queued(), why);
}

} // namespace holdfast::zookeeper
