// SPDX-License-Identifier: Apache-2.0
#include "redis/link/link.hpp"

#include "net/background.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace holdfast::redis {

link::link(node_context& context, purpose what_for, talker& whose)
    : context_{context}
    , home_{context.home}
    , purpose_{what_for}
    , talker_{whose}
    , presence_{context.home, context.address}
    , backoff_{context.how.backoff_min, context.how.backoff_max}
    , rest_{home_.time.make_alarm()} {}

void link::talk() {
    if (closed_)
        return;
    if (!std::exchange(running_, true))
        net::run_in_background(home_.executor, keep_connected(talker_.keep_alive()));
    else if (connected_ && !flush_is_due_ && line_->can_send())
        flush_soon();
}

asio::awaitable<void> link::keep_connected(std::shared_ptr<void>) {
    // Not within the call that wants to talk: that one is still on its way to sleep.
    co_await asio::post(home_.executor, asio::use_awaitable);
    while (!closed_ && talker_.wants_to_talk()) {
        if (home_.time.now() < not_before_) {
            co_await rest_->wait_until(not_before_);
            continue;
        }
        const auto line = std::make_shared<connection>(home_.executor, home_.time, context_.how,
                                                       context_.tls.get());
        line_ = line;
        if (const std::optional<net::failure> why = co_await establish(context_, purpose_, *line)) {
            attempt_failed(*why);
            continue;
        }
        conversation_begins();
        const net::failure why = co_await converse(*line);
        conversation_ended(why);
    }
    running_ = false;
}

void link::attempt_failed(const net::failure& why) {
    line_.reset();
    if (closed_)
        return;
    not_before_ = home_.time.now() + backoff_.next(home_.random());
    presence_.gone(why);
    talker_.connection_failed(why);
}

void link::conversation_begins() {
    connected_ = true;
    connected_since_ = home_.time.now();
    presence_.back();
    talker_.connected();
}

asio::awaitable<net::failure> link::converse(connection& line) {
    try {
        for (;;) {
            const time_point now = home_.time.now();
            while (reply* const answer = line.next())
                talker_.hear(*answer, now);
            flush(); // whoever was answered may have asked again
            co_await line.receive();
        }
    } catch (const net::failure& why) {
        line.cut(why);
        co_return why;
    }
}

void link::conversation_ended(const net::failure& why) {
    connected_ = false;
    line_.reset();
    if (closed_)
        return;
    const time_point now = home_.time.now();
    // A server that accepts, and drops us at once, is not one to be asked again at once.
    if (now - connected_since_ > context_.how.backoff_max)
        backoff_.reset();
    not_before_ = now + backoff_.next(home_.random());
    const net::failure lost{why.code(),
                            "connection to " + context_.address + " lost: " + why.text()};
    presence_.gone(lost);
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
        talker_.speak(out);
        if (out.empty())
            return;
        if (!line_->send())
            net::run_in_background(home_.executor, finish_sending(talker_.keep_alive(), line_));
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

void link::close() {
    closed_ = true;
    rest_->ring();
    cut({errc::closed, "the client is closed"});
}

} // namespace holdfast::redis
