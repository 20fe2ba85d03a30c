// SPDX-License-Identifier: Apache-2.0
#include "redis/link/link.hpp"

#include "net/later.hpp"
#include "runtime/background.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::redis {

link::link(node_context& context, purpose what_for, talker& whose)
    : context_{context}
    , home_{context.home}
    , purpose_{what_for}
    , talker_{whose}
    , presence_{context.home}
    , backoff_{context.how.backoff_min, context.how.backoff_max}
    , rest_{home_.time.make_alarm()} {}

void link::talk() {
    if (closed_)
        return;
    if (!std::exchange(running_, true))
        runtime::run_in_background(home_, keep_connected(talker_.keep_alive()));
    else if (connected_ && !flush_is_due_ && line_->can_send())
        flush_soon();
}

asio::awaitable<void> link::keep_connected(std::shared_ptr<void>) {
    // Wait until talk() has returned. Before that, its caller does not wait for the result yet.
    co_await asio::post(home_.executor, asio::use_awaitable);
    while (!closed_ && talker_.wants_to_talk()) {
        if (home_.time.now() < not_before_) {
            co_await rest_->wait_until(not_before_);
            continue;
        }
        shared_connection line;
        introduction told;
        std::optional<net::failure> failed;
        try {
            line = line_ = std::make_shared<connection>(home_, context_.how);
            failed = co_await establish(context_, purpose_, *line, told);
        } catch (const std::exception& why) { // for example out of memory; the loop must go on
            failed.emplace(errc::unreachable, why.what());
        }
        if (failed) {
            attempt_failed(*failed);
            continue;
        }
        conversation_begins(told);
        const net::failure why = co_await converse(*line);
        conversation_ended(why);
    }
    running_ = false;
}

void link::pause() {
    duration length = backoff_.next(home_.random());
    if (home_.holds_any && home_.holds_any())
        length = std::min(length, pause_max_while_holding);
    not_before_ = net::later(home_.time.now(), length);
}

void link::gone(const std::string& address, const net::failure& why) {
    if (purpose_ != purpose::more_commands)
        presence_.gone(address, why);
}

void link::attempt_failed(const net::failure& why) {
    line_.reset();
    if (closed_ || std::exchange(moves_, false))
        return; // queued requests wait for the next attempt, which follows at once
    pause();
    gone(context_.address(), why);
    talker_.connection_failed(why);
}

void link::conversation_begins(const introduction& told) {
    connected_ = true;
    connected_since_ = home_.time.now();
    presence_.back(context_.address());
    talker_.connected(told);
}

asio::awaitable<net::failure> link::converse(connection& line) {
    try {
        for (;;) {
            const time_point now = home_.time.now();
            while (reply* const answer = line.next())
                talker_.hear(*answer, now);
            flush(); // callers that got a reply may have queued new requests
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

void link::conversation_ended(const net::failure& why) {
    connected_ = false;
    const std::string address = line_->to()->address;
    line_.reset();
    if (closed_)
        return;
    if (!std::exchange(moves_, false)) {
        // Some servers accept connections but drop them at once. The backoff must grow in that case
        // too, so reset it only after a longer connection.
        if (home_.time.now() - connected_since_ > context_.how.backoff_max)
            backoff_.reset();
        pause();
    }
    const net::failure lost{why.code(), "connection to " + address + " lost: " + why.text()};
    gone(address, lost);
    talker_.connection_lost(lost);
}

void link::flush_soon() {
    flush_is_due_ = true;
    asio::post(home_.executor, [this, keep = talker_.keep_alive()] {
        flush_is_due_ = false;
        flush();
    });
}

void link::flush() {
    while (connected_ && line_->can_send()) {
        std::string& out = line_->outbox();
        try {
            talker_.speak(out);
        } catch (const std::exception& why) { // an incomplete request must not be sent
            return cut({errc::outcome_unknown, why.what()});
        }
        if (out.empty())
            return;
        if (!line_->send())
            runtime::run_in_background(home_, finish_sending(talker_.keep_alive(), line_));
    }
}

asio::awaitable<void> link::finish_sending(std::shared_ptr<void>, shared_connection line) {
    co_await line->send_rest();
    if (line_ == line)
        flush();
}

void link::cut(net::failure why) {
    if (line_)
        line_->cut(std::move(why));
}

void link::move(net::failure why) {
    backoff_.reset();
    not_before_ = time_point::min();
    rest_->ring();
    moves_ = line_ != nullptr;
    cut(std::move(why));
}

void link::close() {
    closed_ = true;
    rest_->ring();
    cut({errc::closed, "the client is closed"});
}

} // namespace holdfast::redis
