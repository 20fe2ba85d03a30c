// SPDX-License-Identifier: Apache-2.0
#include "redis/client/requests.hpp"

#include "net/deadlines.hpp"
#include "redis/client/error_replies.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::redis {
namespace {

/// Returns the deadline in microseconds of the server's clock. Returns 0 if there is no estimate of
/// that clock. The server then does not check the deadline.
std::int64_t on_server(server_deadline deadline, const runtime::remote_clock& clock) {
    const auto moment = clock.no_later_than(deadline.at);
    return moment ? moment->count() : 0;
}

} // namespace

void compose_wait(composer out, std::uint8_t replicas, duration within) {
    out.begin(3);
    out.word("WAIT");
    out.number(replicas);
    out.number(std::max<std::int64_t>(within.count(), 1)); // for WAIT, 0 means no timeout
}

void require_confirmation(const reply& answer) {
    const bool is_count = answer.type == reply::kind::integer && answer.integer >= 0;
    if (!is_count && answer.type != reply::kind::error)
        throw net::failure{store_errc::protocol, "an answer that WAIT never gives"};
}

void note_confirmation(reply& of, const reply& answer) {
    if (answer.type == reply::kind::error)
        of.confirmation_refused = answer.text;
    else
        of.confirmed = answer.integer;
}

void request::compose(composer out, const runtime::remote_clock& clock) const {
    if (options.asking)
        out.request({"ASKING"});
    if (&what == &plain_command) {
        out.begin(keys.size());
        for (const std::string_view word : keys)
            out.word(word);
        return;
    }
    out.begin(3 + keys.size() + arguments.size());
    out.word(with_text ? "EVAL" : "EVALSHA");
    out.word(with_text ? what.text : what.sha1);
    out.number(static_cast<std::int64_t>(keys.size()));
    for (const std::string_view key : keys)
        out.word(key);
    for (const argument& one : arguments) {
        if (const auto* text = std::get_if<std::string_view>(&one))
            out.word(*text);
        else if (const auto* number = std::get_if<std::int64_t>(&one))
            out.number(*number);
        else
            out.number(on_server(std::get<server_deadline>(one), clock));
    }
}

reply request::take_answer() {
    if (failed)
        throw net::failure{*failed};
    if (answer.type == reply::kind::error && was_unblocked(answer.text))
        throw net::failure{errc::outcome_unknown, answer.text};
    if (answer.type == reply::kind::error)
        throw net::failure{classify(answer.text),
                           with_missing_right(answer.text, missing_right(answer.text, what, keys))};
    return std::move(answer);
}

server_deadline deadline_in(std::span<const argument> arguments) {
    for (const argument& one : arguments)
        if (const auto* limit = std::get_if<server_deadline>(&one))
            return *limit;
    return {time_point::max()};
}

void pipeline::ask(request& asked, time_point now, duration timeout, time_point send_until) {
    const time_point usual = net::later(now, timeout);
    asked.asked_at = now;
    asked.answer_until = std::min(usual, asked.options.answer_by);
    asked.deadline = asked.answer_until;
    if (send_until > now)
        asked.deadline = std::min(asked.deadline, send_until);
    asked.hurried = asked.deadline < usual;
    asked.ordinal = ++asked_;
    asked.standing = request::stage::queued;
    queued_.push_back(asked);
    if (!asked.hurried) {
        waiting_.push_back(asked); // stays sorted: all requests in it have the same timeout
        return;
    }
    add_hurried(asked);
}

void pipeline::add_hurried(request& asked) {
    // Search from the end, because a new request nearly always belongs at the end.
    auto place = hurried_.end();
    while (place != hurried_.begin() && std::prev(place)->deadline > asked.deadline)
        --place;
    hurried_.insert(place, asked);
}

request* pipeline::oldest() {
    if (hurried_.empty())
        return waiting_.empty() ? nullptr : &waiting_.front();
    const bool usual = !waiting_.empty() && waiting_.front().deadline < hurried_.front().deadline;
    return usual ? &waiting_.front() : &hurried_.front();
}

request* pipeline::next_to_write(time_point now) {
    if (queued_.empty())
        return nullptr;
    request& next = queued_.front();
    queued_.pop_front();
    next.standing = request::stage::in_flight;
    next.slot = first_slot_ + written_.size();
    written_.push_back({&next, now});
    if (next.deadline < next.answer_until) {
        hurried_.erase(hurried_.iterator_to(next));
        next.deadline = next.answer_until;
        add_hurried(next);
    }
    return &next;
}

std::optional<pipeline::written> pipeline::answered() {
    if (written_.empty())
        return std::nullopt;
    const written whose = written_.front();
    written_.pop_front();
    ++first_slot_;
    if (whose.given_up)
        --given_up_;
    if (whose.what == question::wait)
        --waits_;
    if (whose.asker)
        whose.asker->standing = request::stage::apart;
    return whose;
}

void pipeline::ask_again(request& asked) {
    const auto later = [&](const request& other) { return other.ordinal > asked.ordinal; };
    asked.standing = request::stage::queued;
    queued_.insert(std::find_if(queued_.begin(), queued_.end(), later), asked);
}

void pipeline::await_confirmation(request& asked) {
    asked.standing = request::stage::unconfirmed;
    unconfirmed_.push_back(asked);
}

std::vector<request*> pipeline::confirmed() {
    std::vector<request*> all;
    for (request& one : unconfirmed_)
        all.push_back(&one);
    return all;
}

void pipeline::forget(request& asked) {
    if (asked.standing == request::stage::queued)
        queued_.erase(queued_.iterator_to(asked));
    if (asked.standing == request::stage::unconfirmed)
        unconfirmed_.erase(unconfirmed_.iterator_to(asked));
    if (asked.standing == request::stage::in_flight)
        written_[asked.slot - first_slot_].asker = nullptr;
    asked.standing = request::stage::apart;
    auto& mine = asked.hurried ? hurried_ : waiting_;
    mine.erase(mine.iterator_to(asked));
}

void pipeline::give_up(request& asked) {
    if (asked.standing == request::stage::in_flight) {
        written_[asked.slot - first_slot_].given_up = true;
        ++given_up_;
    }
    forget(asked);
}

std::vector<request*> pipeline::drop_written() {
    // Also drop the requests that wait for replicas. Otherwise a WAIT on the next connection would
    // seem to confirm them.
    std::vector<request*> unanswered = confirmed();
    for (const written& one : written_)
        if (one.asker)
            unanswered.push_back(one.asker);
    for (request* one : unanswered)
        forget(*one);
    written_.clear();
    given_up_ = waits_ = 0;
    return unanswered;
}

std::vector<request*> pipeline::drop_queued() {
    std::vector<request*> unsent;
    for (request& one : queued_)
        unsent.push_back(&one);
    for (request* one : unsent)
        forget(*one);
    return unsent;
}

std::optional<time_point> pipeline::owed_since() const {
    if (written_.empty())
        return std::nullopt;
    return written_.front().sent_at;
}

void tell_moved(const store_context& home, const std::string& address, const std::string& told_by) {
    if (home.tell)
        home.tell({.kind = event_kind::moved,
                   .name = address.data(),
                   .name_size = address.size(),
                   .text = told_by.data(),
                   .text_size = told_by.size()});
}

void pauses::end() {
    if (std::exchange(ended_, true)) // the destructor may make a second call, on any thread
        return;
    for (alarm* const each : all_)
        each->ring();
}

retry_loop::retry_loop(const store_context& home, std::shared_ptr<pauses> all,
                       duration command_timeout, call_options& options,
                       std::span<const argument> arguments)
    : home_{home}
    , all_{std::move(all)}
    , began_{home.time.now()}
    , limit_{std::min(options.answer_by, net::later(began_, command_timeout))}
    , useful_until_{deadline_in(arguments).at} {
    options.answer_by = limit_;
}

retry_loop::~retry_loop() {
    if (alarm_)
        all_->remove(*alarm_);
}

asio::awaitable<void> retry_loop::rest(const net::failure& why) {
    const auto jitter = static_cast<duration::rep>(home_.random() % 1000);
    const duration pause = pause_min + (pause_max - pause_min) * jitter / 1000;
    const time_point again_at = net::later(home_.time.now(), pause);
    if (why.code() != errc::unreachable || again_at >= limit())
        throw net::failure{why};
    if (!alarm_) {
        alarm_ = home_.time.make_alarm();
        all_->add(*alarm_);
    }
    while (!all_->ended() && home_.time.now() < again_at)
        co_await alarm_->wait_until(again_at);
    if (all_->ended())
        throw net::failure{errc::closed, "the client is closed"};
}

} // namespace holdfast::redis
