// SPDX-License-Identifier: Apache-2.0
// How a pool makes its connections, and what it does when they end.
#include "mysql/carrier_of_pool.hpp"
#include "mysql/pool.hpp"
#include "net/later.hpp"
#include "runtime/background.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::mysql {
namespace {

/// Joins the failures of all servers that were tried. If any code is `unreachable`, the joined code
/// is `unreachable`: an unreachable server may come back soon, but a refusal will probably stay.
net::failure joined(const std::vector<net::failure>& all) {
    const auto passing = std::ranges::find_if(
        all, [](const net::failure& each) { return each.code() == errc::unreachable; });
    std::string text;
    for (const net::failure& each : all)
        text += (text.empty() ? "" : "; ") + each.text();
    return {passing != all.end() ? passing->code() : all.front().code(), std::move(text)};
}

void tell_moved_to(const store_context& home, const std::string& address) {
    const std::string told_by = "the connection";
    if (home.tell)
        home.tell({.kind = event_kind::moved,
                   .name = address.data(),
                   .name_size = address.size(),
                   .text = told_by.data(),
                   .text_size = told_by.size()});
}

class one_more {
public:
    explicit one_more(std::size_t& of)
        : of_{of} {
        ++of_;
    }
    one_more(const one_more&) = delete;
    ~one_more() { --of_; }

private:
    std::size_t& of_;
};

} // namespace

bool pool::wants_connection() const {
    if (closed_)
        return false;
    if (seats_.anybody_waits())
        return seats_.shared_count() < how_.connections_max;
    return seats_.empty() && !server_.empty() && home_.holds_any && home_.holds_any();
}

void pool::want_connection() {
    if (wants_connection() && !std::exchange(connecting_, true))
        runtime::run_in_background(home_, keep_connecting(shared_from_this()));
}

asio::awaitable<void> pool::keep_connecting(std::shared_ptr<pool>) {
    // Do not connect inside the caller's own call, because the caller does not sleep yet.
    co_await asio::post(home_.executor, asio::use_awaitable);
    while (wants_connection()) {
        if (home_.time.now() < not_before_) {
            co_await rest_->wait_until(not_before_);
            continue;
        }
        std::optional<net::failure> failed;
        try {
            introduced made = co_await make_line(time_point::max());
            seats_.give_back(join(std::move(made), false));
        } catch (const net::failure& why) {
            failed = why;
        } catch (const std::exception& why) { // out of memory or threads: this loop must continue
            failed.emplace(errc::unreachable, why.what());
        }
        if (failed && !closed_)
            attempt_failed(*failed);
    }
    connecting_ = false;
}

asio::awaitable<introduced> pool::make_line(time_point limit) {
    const time_point give_up_at =
        std::min(limit, net::later(home_.time.now(), how_.connect_timeout));
    const server_address where = how_.servers.empty() ? server_address{} : how_.servers[current_];
    introduced made = co_await maker_->make(where, give_up_at);
    const bool is_the_one = how_.servers.empty() || where == how_.servers[current_];
    const bool is_still_wanted = !closed_ && is_the_one;
    if (!is_still_wanted) {
        made.at->end();
        throw net::failure{closed_ ? errc::closed : errc::unreachable,
                           "not wanted any more: " + maker_->address_of(where)};
    }
    co_return made;
}

/// Handles a failed attempt to connect. Tries all servers in turn before it reports a failure and
/// before it pauses. If connections to a server exist, keeps that server even if it accepts no more
/// connections.
void pool::attempt_failed(const net::failure& why) {
    trouble_ = why;
    round_.push_back(why);
    if (seats_.empty() && round_.size() < how_.servers.size()) {
        current_ = (current_ + 1) % how_.servers.size();
        return;
    }
    const net::failure all = joined(std::exchange(round_, {}));
    pause_connecting();
    if (seats_.empty()) {
        if (!how_.servers.empty())
            current_ = (current_ + 1) % how_.servers.size();
        presence_.gone(address(), all);
    }
    if (seats_.shared_count() == 0)
        seats_.fail_shared(all);
}

void pool::pause_connecting() {
    duration length = backoff_.next(home_.random());
    if (home_.holds_any && home_.holds_any())
        length = std::min(length, pause_max_while_holding);
    not_before_ = net::later(home_.time.now(), length);
}

pool::place pool::join(introduced made, bool to_wait_on) {
    auto one = std::make_shared<seat>(std::move(made));
    one->taken = true; // reserve it for the first user
    one->to_wait_on = one->kept = to_wait_on;
    one->at->on_lost = [self = weak_from_this(), seat = std::weak_ptr{one}] {
        const auto here = self.lock();
        const auto it = seat.lock();
        if (here && it)
            here->gone(it);
    };
    round_.clear();
    trouble_.reset();
    meet(one->who);
    seats_.add(one);
    watch_for(idle_until(*one));
    return one;
}

/// Stores which server a new connection has reached. After a reconnection all held locks may be
/// lost, so the store checks its holds again (`doubt`).
void pool::meet(const portrait& who) {
    const time_point now = home_.time.now();
    const bool is_first = server_.empty();
    const bool is_other = !is_first && who.server != server_;
    const bool was_away = seats_.empty() && !is_first;
    // One host name may lead to several servers. Only the server of the newest connection counts,
    // unless the servers share their locks.
    const bool replaces = is_other && !was_away && !who.facts.has_several_writers;
    if (replaces)
        cut_all({errc::outcome_unknown, "another server answers at " + who.facts.address + " now"});
    // The uptime is in whole seconds, so it can be one second too long or too short.
    const bool restarted = was_away && who.uptime <= now - last_heard_ + std::chrono::seconds{1};
    facts_ = who.facts;
    server_ = who.server;
    if (seats_.empty()) {
        connected_since_ = now;
        presence_.back(address());
    }
    if (replaces || (is_other && was_away))
        tell_moved_to(home_, who.facts.address);
    if ((replaces || was_away) && home_.doubt)
        home_.doubt({}, is_other || restarted);
}

/// Removes a connection that has ended. A second call does no harm.
void pool::gone(const place& one) {
    if (!seats_.drop(one) || closed_)
        return;
    if (seats_.empty()) {
        const time_point now = home_.time.now();
        last_heard_ = now;
        // Do not reset the backoff if the server accepts connections but closes them at once.
        if (now - connected_since_ > how_.backoff_max)
            backoff_.reset();
        pause_connecting();
        presence_.gone(address(), one->at->why());
    }
    want_connection();
}

/// Cuts all connections to a server that accepts no writes. Continues with the next server.
void pool::leave_server(const net::failure& why) {
    if (how_.servers.size() > 1) {
        round_.assign(1, why);
        current_ = (current_ + 1) % how_.servers.size();
    }
    trouble_ = why;
    cut_all({errc::unreachable, "the server was left: " + why.text()});
    if (how_.servers.size() > 1)
        not_before_ = time_point::min();
}

void pool::cut_all(const net::failure& why) {
    const std::vector<place> all = seats_.all();
    for (const place& each : all) {
        each->at->cut(why);
        if (!each->taken)
            gone(each);
    }
}

asio::awaitable<std::shared_ptr<carrier>> pool::connection_to_wait_on(time_point limit) {
    const auto keep = shared_from_this();
    if (closed_)
        throw net::failure{errc::closed, address() + ": the client is closed"};
    if (!has_bells())
        co_return nullptr;
    if (const place spare = seats_.take_spare())
        co_return carrier_of(spare);
    if (seats_.to_wait_on_count() + to_be_waited_on_ >= how_.wait_connections_max)
        co_return nullptr;
    const one_more mine{to_be_waited_on_};
    introduced made = co_await make_line(limit);
    const place one = join(std::move(made), true);
    one->taken = false;
    co_return carrier_of(one);
}

} // namespace holdfast::mysql
