// SPDX-License-Identifier: Apache-2.0
#include "redis/mouth/mouth.hpp"

#include "redis/wire/classify.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::redis {

mouth::mouth(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , patience_{context_->how.command_timeout}
    , idle_bound_{std::clamp(context_->home.lease_time / 3, patience_,
                             std::max(patience_, idle_max))}
    , link_{*context_, purpose::commands, *this}
    , lookout_{*context_, *this} {}

asio::awaitable<reply> mouth::ask(const script& what, request::names_list keys,
                                  request::arguments_list arguments) {
    admit();
    request mine{what, keys, arguments};
    auto begin = [this, &mine](auto handler) {
        request::waiter{std::move(handler)}.swap(mine.resume);
        enqueue(mine);
    };
    co_await asio::async_initiate<const asio::deferred_t, void()>(begin, asio::deferred);
    co_return mine.take_answer(); // this mouth may be gone by now
}

void mouth::admit() const {
    if (closed_)
        throw net::failure{errc::closed, context_->address + ": the client is closed"};
    if (pipeline_.size() >= context_->how.requests_max)
        throw net::failure{errc::overloaded, context_->address + ": " +
                                                 std::to_string(pipeline_.size()) +
                                                 " requests wait already"};
}

void mouth::enqueue(request& asked) {
    if (auto slot = asio::get_associated_cancellation_slot(asked.resume); slot.is_connected())
        slot.assign([this, &asked](asio::cancellation_type) {
            if (asked.standing != request::stage::apart) // else `this` may be gone
                withdraw(asked);
        });
    pipeline_.ask(asked, context_->home.time.now() + patience_);
    lookout_.watch_for(asked.deadline);
    link_.talk();
}

void mouth::withdraw(request& asked) {
    pipeline_.forget(asked);
    asked.failed = std::make_shared<net::failure>(asio::error::operation_aborted, "cancelled");
    asio::post(context_->home.executor, std::move(asked.resume));
}

void mouth::connected() {
    trouble_.reset();
    ping_is_due_ = false;
    last_heard_ = context_->home.time.now();
    lookout_.watch_for(idle_until());
}

void mouth::speak(std::string& out) {
    if (!pipeline_.anything_queued() && !ping_is_due_)
        return;
    const time_point now = context_->home.time.now();
    if (std::exchange(ping_is_due_, false)) {
        composer{out}.request({"PING"});
        pipeline_.write_for_nobody(now);
    }
    while (out.size() < batch_bytes_max) {
        const request* const next = pipeline_.next_to_write(now);
        if (!next)
            return;
        next->compose(composer{out}, context_->server_clock);
    }
}

void mouth::hear(reply& answer, time_point received_at) {
    const auto written = pipeline_.answered();
    if (!written)
        throw net::failure{store_errc::protocol, "an answer that nobody asked for"};
    last_heard_ = received_at;
    if (!written->asker)
        return; // to a PING, or too late: no reason to think ill of the connection
    request& asker = *written->asker;
    const bool refused = answer.type == reply::kind::error;
    if (refused && !asker.with_text && asks_for_script(answer.text)) {
        asker.with_text = true;
        pipeline_.ask_again(asker);
        return;
    }
    pipeline_.forget(asker);
    asker.answer = std::move(answer);
    asker.answer.sent_at = written->sent_at;
    asker.answer.received_at = received_at;
    resume(asker);
}

void mouth::resume(request& done) {
    request::waiter waiter;
    waiter.swap(done.resume);
    try {
        std::move(waiter)();
    } catch (...) {
        // The user's own completion handler threw. It must come out of whoever runs the executor,
        // as always in Asio, and not end the loop that happens to be below it.
        auto throw_again = [bug = std::current_exception()] { std::rethrow_exception(bug); };
        asio::post(context_->home.executor, std::move(throw_again));
    }
}

void mouth::end(const std::vector<request*>& all, const net::failure& why) {
    const auto shared = std::make_shared<const net::failure>(why);
    for (request* const one : all)
        one->failed = shared;
    for (request* const one : all) // none runs before all are told: it could ask for anything
        resume(*one);
}

void mouth::connection_failed(const net::failure& why) {
    trouble_ = why;
    end(pipeline_.drop_queued(), why);
}

void mouth::connection_lost(const net::failure& why) {
    trouble_ = why;
    const bool garbage = why.code() == store_errc::protocol;
    end(pipeline_.drop_written(),
        {garbage ? why.code() : make_error_code(errc::outcome_unknown), why.text()});
}

time_point mouth::next_limit() const {
    const request* const first = pipeline_.oldest();
    const auto owed_since = pipeline_.owed_since();
    const time_point of_connection = owed_since          ? *owed_since + 2 * patience_
                                     : link_.connected() ? idle_until()
                                                         : time_point::max();
    return std::min(first ? first->deadline : time_point::max(), of_connection);
}

void mouth::limit_reached(time_point now) {
    std::vector<request*> queued, written;
    for (request* late; (late = pipeline_.oldest()) && late->deadline <= now;) {
        const bool sent = late->standing == request::stage::in_flight;
        (sent ? written : queued).push_back(late);
        pipeline_.forget(*late);
    }
    const auto owed_since = pipeline_.owed_since();
    if (owed_since && *owed_since + 2 * patience_ <= now) {
        link_.cut(unanswered());
    } else if (!owed_since && link_.connected() && idle_until() <= now) {
        ping_is_due_ = true;
        link_.talk();
    }
    end(queued, unsent());
    end(written, unanswered());
}

net::failure mouth::unsent() const {
    const std::string reason = trouble_ ? trouble_->text()
                               : link_.connected()
                                   ? context_->address + " takes no more requests"
                                   : "no connection to " + context_->address + " yet";
    return {errc::unreachable,
            "not sent within " + std::to_string(patience_.count()) + " ms: " + reason};
}

net::failure mouth::unanswered() const {
    return {errc::outcome_unknown, context_->address + " did not answer within " +
                                       std::to_string(patience_.count()) + " ms"};
}

void mouth::close() {
    if (std::exchange(closed_, true))
        return;
    link_.close();
    lookout_.close();
    const auto closed = std::make_shared<const net::failure>(
        errc::closed, context_->address + ": the client is closed");
    for (const auto& all : {pipeline_.drop_written(), pipeline_.drop_queued()})
        for (request* const one : all) {
            one->failed = closed;
            asio::post(context_->home.executor, std::move(one->resume));
        }
}

} // namespace holdfast::redis
