// SPDX-License-Identifier: Apache-2.0
// Requests and answers: what the keeper does while there is a connection.
#include "runtime/background.hpp"
#include "zookeeper/keeper.hpp"
#include "zookeeper/wire/classify.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace holdfast::zookeeper {

class keeper::watching final : public watch {
public:
    watching(std::weak_ptr<keeper> home, watches::shared_watcher mine)
        : home_{std::move(home)}
        , mine_{std::move(mine)} {}
    ~watching() override {
        mine_->tell = {};
        if (const auto home = home_.lock())
            home->watches_.remove(mine_);
    }

private:
    const std::weak_ptr<keeper> home_;
    const watches::shared_watcher mine_;
};

std::unique_ptr<watch> keeper::watch_with(const shared_request& asked,
                                          watches::shared_watcher who) {
    asked->on_answer = [this, who](const request& answer) {
        if (answer.error == answered::well && who->tell)
            watches_.add(who);
    };
    return std::make_unique<watching>(weak_from_this(), std::move(who));
}

void keeper::ask(shared_request what) {
    if (closed_)
        throw net::failure{errc::closed, "the client is closed"};
    if (requests_.size() >= how_.requests_max)
        throw net::failure{errc::overloaded, address() + ": " + std::to_string(requests_.size()) +
                                                 " requests wait already"};
    const time_point now = last_asked_ = home_.time.now();
    what->under_way.emplace(entrance_);
    requests_.ask(std::move(what), now);
    watch_for(now + how_.command_timeout);
    if (!connected_)
        connect();
    else if (!caller() && !flush_is_due_ && line_->can_send())
        flush_soon();
}

asio::awaitable<void> keeper::settled(shared_request asked) {
    if (runtime::visit* const visiting = caller())
        settle_by(*visiting, *asked);
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

void keeper::withdraw(const shared_request& asked) {
    if (asked->standing == request::stage::settled)
        return;
    requests_.give_up(*asked);
    fail_later({asked}, {asio::error::operation_aborted, "cancelled"});
}

asio::awaitable<net::failure> keeper::converse(connection& line) {
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

void keeper::flush_soon() {
    flush_is_due_ = true;
    asio::post(home_.executor, [this, keep = shared_from_this()] {
        flush_is_due_ = false;
        flush();
    });
}

void keeper::flush() {
    while (connected_ && line_->can_send()) {
        std::string& out = line_->outbox();
        compose_queued(out);
        if (out.empty())
            return;
        if (!line_->send())
            runtime::run_in_background(home_, finish_sending(shared_from_this(), line_));
    }
}

void keeper::compose_queued(std::string& out) {
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

asio::awaitable<void> keeper::finish_sending(std::shared_ptr<void>, shared_connection line) {
    co_await line->send_rest();
    if (line_ == line)
        flush();
}

void keeper::hear(std::string_view frame) {
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

void keeper::answered(const shared_request& whose) {
    if (whose->on_answer)
        std::exchange(whose->on_answer, {})(*whose);
    resume(*whose);
}

void keeper::resume(request& done) {
    if (done.visitor)
        return done.visitor->wake(entrance_->visitor());
    request::waiter waiter;
    waiter.swap(done.resume);
    if (!waiter)
        return;
    if (entrance_ && entrance_->visitor()) // a calling thread is running its own request
        return asio::post(home_.executor, std::move(waiter));
    try {
        std::move(waiter)();
    } catch (...) {
        // The user's own completion handler threw an exception. The exception must leave the
        // function that runs the executor, as usual in Asio. It must not end this loop.
        auto throw_again = [bug = std::current_exception()] { std::rethrow_exception(bug); };
        asio::post(home_.executor, std::move(throw_again));
    }
}

void keeper::fail(const std::vector<shared_request>& all, const net::failure& why) {
    const auto shared = std::make_shared<const net::failure>(why);
    for (const shared_request& one : all)
        one->failed = shared;
    for (const shared_request& one :
         all) // mark all as failed first, because a resumed caller may change anything
        resume(*one);
}

/// Fails the requests now. Resumes their callers after this call has returned.
void keeper::fail_later(const std::vector<shared_request>& all, const net::failure& why) {
    const auto shared = std::make_shared<const net::failure>(why);
    for (const shared_request& one : all) {
        one->failed = shared;
        if (one->visitor)
            one->visitor->wake(entrance_->visitor());
        request::waiter waiter;
        waiter.swap(one->resume);
        if (waiter)
            asio::post(home_.executor, std::move(waiter));
    }
}

/// Closes the session at the server. The connection is cut when the answer comes.
void keeper::say_goodbye(const shared_request& goodbye) {
    goodbye->on_answer = [this](const request&) {
        leaves_ = true;
        end_session(false);
        line_->cut({errc::unreachable, "the session is not needed any more"});
    };
    ask(goodbye);
}

} // namespace holdfast::zookeeper
