// SPDX-License-Identifier: Apache-2.0
#include "redis/client/command_connection.hpp"

#include "redis/client/error_replies.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::redis {
namespace {

/// Greatest error of the uptime that a server reports. The server subtracts two times in whole
/// seconds. So if it reports 5 s, the true uptime may be 4 s.
constexpr std::chrono::seconds uptime_rounding{1};

std::optional<time_point> later_of(std::optional<time_point> one, std::optional<time_point> other) {
    return std::max(one, other); // an empty time is earlier than any other
}

} // namespace

// Compares the replication id, which identifies the history of the data. The run_id, which
// identifies the process, is not enough: a primary that was demoted and promoted again keeps its
// run_id, but may have another server's data now.
server_identity_tracker::handshake_result server_identity_tracker::meet(const server_hello& told,
                                                                        time_point now) {
    const bool same = !told.replication_id.empty() && told.replication_id == replication_id_;
    const bool same_process = same && !told.run_id.empty() && told.run_id == run_id_;
    may_be_another_ = met_ && (told.run_id.empty() || told.run_id != run_id_);
    run_id_ = told.run_id;
    replication_id_ = told.replication_id;
    if (same_process)
        forgets_before_ = before_loss_; // only the connection was lost; the data are the same
    if (told.uptime)
        forgets_before_ = later_of(forgets_before_, now - *told.uptime + uptime_rounding);
    before_loss_ = forgets_before_;
    if (!std::exchange(met_, true))
        return handshake_result::first;
    return same ? handshake_result::same : handshake_result::other_or_unknown;
}

void server_identity_tracker::lost(time_point now) {
    forgets_before_ = now;
}

command_connection::command_connection(std::shared_ptr<node_context> context, purpose what_for,
                                       std::uint8_t replicas)
    : context_{std::move(context)}
    , purpose_{what_for}
    , replicas_{replicas}
    , timeout_{context_->how.command_timeout}
    , idle_bound_{std::clamp(context_->home.lease_time / 3, timeout_, std::max(timeout_, idle_max))}
    , hang_detector_{*context_}
    , connection_{*context_, what_for, *this}
    , deadline_timer_{context_->home, [this] { return next_limit(); },
                      [this](time_point now) { limit_reached(now); }} {}

asio::awaitable<reply> command_connection::ask(const script& what, request::names_list keys,
                                               request::arguments_list arguments,
                                               const call_options& options) {
    admit(options);
    request mine{what, keys, arguments, options};
    auto begin = [this, &mine](auto handler) {
        request::waiter{std::move(handler)}.swap(mine.resume);
        enqueue(mine);
    };
    co_await asio::async_initiate<const asio::deferred_t, void()>(begin, asio::deferred);
    co_return mine.take_answer(); // this object may not exist any more
}

void command_connection::admit(const call_options& options) const {
    if (closed_)
        throw net::failure{*closed_};
    if (!options.reserved && pipeline_.size() >= context_->how.requests_max)
        throw net::failure{errc::overloaded, context_->address() + ": " +
                                                 std::to_string(pipeline_.size()) +
                                                 " requests wait already"};
    if (options.answer_by <= context_->home.time.now())
        throw net::failure{errc::unreachable, "not sent: its timeout expired first"};
}

void command_connection::enqueue(request& asked) {
    if (auto slot = asio::get_associated_cancellation_slot(asked.resume); slot.is_connected())
        slot.assign([this, &asked](asio::cancellation_type) {
            if (asked.standing != request::stage::apart) // otherwise `this` may not exist any more
                withdraw(asked);
        });
    pipeline_.ask(asked, context_->home.time.now(), timeout_, send_until(asked));
    watch_for(asked.deadline);
    connection_.talk();
}

/// Returns the time until which the request may wait for a connection. This is the deadline in the
/// request's arguments. After a failed attempt to connect, the deadline of the call counts, too,
/// and the earlier one is returned. While a connection is open, there is no limit, because the
/// request will be sent soon.
time_point command_connection::send_until(const request& asked) const {
    if (connection_.connected())
        return time_point::max();
    const server_deadline limit = deadline_in(asked.arguments);
    return trouble_ ? std::min(limit.at, limit.of_call) : limit.at;
}

void command_connection::withdraw(request& asked) {
    pipeline_.forget(asked);
    asked.failed = std::make_shared<net::failure>(asio::error::operation_aborted, "cancelled");
    asio::post(context_->home.executor, std::move(asked.resume));
}

void command_connection::stay_connected() {
    if (connection_.connected())
        return;
    stays_ = true;
    connection_.talk();
}

bool command_connection::wants_to_talk() const {
    return pipeline_.anything_queued() || stays_ ||
           (purpose_ == purpose::commands && anything_held());
}

void command_connection::connected(const server_hello& told) {
    trouble_.reset();
    question_is_due_ = stays_ = stuck_ = false;
    idle_question_ = told.tells_role ? question::role : question::ping;
    last_heard_ = context_->home.time.now();
    watch_for(idle_until());
    meet(told);
}

// Reports the new connection to the client. The server may have lost holds, so the client must soon
// check whether its holds still exist.
void command_connection::meet(const server_hello& told) {
    const server_identity_tracker::handshake_result which = identity_.meet(told, last_heard_);
    if (purpose_ != purpose::commands) {
        if (context_->on_other_connection)
            context_->on_other_connection(told);
        return;
    }
    if (context_->on_shared_connection) // before any request about a hold is sent
        context_->on_shared_connection(identity_.server());
    if (which != server_identity_tracker::handshake_result::first && context_->revalidate)
        context_->revalidate(which == server_identity_tracker::handshake_result::other_or_unknown);
    if (context_->on_connected)
        context_->on_connected(told);
}

void command_connection::follow(const server_in_use& now, const net::failure& why) {
    const bool stays =
        connection_.connected() ? now.serves(identity_.server().run_id) : !now.may_be_another;
    if (!stays)
        connection_.move(why);
}

bool command_connection::cut_silent(time_point since, const net::failure& why) {
    const auto owed_since = pipeline_.owed_since();
    if (replicas_ > 0 || !connection_.connected() || !owed_since || *owed_since > since)
        return false;
    connection_.cut(why);
    return true;
}

void command_connection::ask_if_there() {
    if (replicas_ > 0 || !connection_.connected() || pipeline_.owed_since())
        return;
    question_is_due_ = true;
    connection_.talk();
}

void command_connection::speak(std::string& out) {
    if (!pipeline_.anything_queued() && !question_is_due_)
        return;
    if (pipeline_.awaits_confirmation())
        return;
    const time_point now = context_->home.time.now();
    if (std::exchange(question_is_due_, false)) {
        composer{out}.request({idle_question_ == question::role ? "ROLE" : "PING"});
        pipeline_.write_for_nobody(idle_question_, now);
    }
    write_queued(out, now);
    if (hang_detector_.is_possible())
        watch_for(hang_detector_.due(pipeline_.owed_since()));
}

void command_connection::write_queued(std::string& out, time_point now) {
    const auto server_clock = connection_.server_clock();
    duration within = duration::max();
    while (out.size() < batch_bytes_max && pipeline_.anything_queued()) {
        if (pipeline_.next_asks())
            pipeline_.write_for_nobody(question::asking, now);
        const request& next = *pipeline_.next_to_write(now);
        next.compose(composer{out}, *server_clock);
        within = std::min(within, next.options.replicas_within);
    }
    if (replicas_ == 0 || within == duration::max())
        return;
    compose_wait(composer{out}, replicas_, within);
    pipeline_.write_for_nobody(question::wait, now);
}

void command_connection::hear(reply& answer, time_point received_at) {
    const auto written = pipeline_.answered();
    if (!written)
        throw net::failure{store_errc::protocol, "an answer to no request"};
    last_heard_ = received_at;
    stuck_ = false;
    judge(answer, written->what);
    if (written->what == question::wait)
        return confirmation_given(answer);
    if (!written->asker)
        return; // PING, or a request that timed out: no error
    answer_given(*written->asker, answer, *written, received_at);
}

void command_connection::answer_given(request& asker, reply& answer, const pipeline::written& how,
                                      time_point received_at) {
    const bool refused = answer.type == reply::kind::error;
    if (refused && !asker.with_text && asks_for_script(answer.text)) {
        asker.with_text = true;
        pipeline_.ask_again(asker);
        return;
    }
    asker.failed = misdirection(*context_, answer);
    asker.answer = std::move(answer);
    asker.answer.sent_at = how.sent_at;
    asker.answer.received_at = received_at;
    asker.answer.clock = connection_.server_clock();
    if (replicas_ > 0 && !refused)
        return pipeline_.await_confirmation(asker);
    pipeline_.forget(asker);
    resume(asker);
}

void command_connection::confirmation_given(const reply& said) {
    require_confirmation(said);
    const std::vector<request*> all = pipeline_.confirmed();
    for (request* const one : all) {
        pipeline_.forget(*one);
        note_confirmation(one->answer, said);
    }
    // Store all results before the first caller is resumed, because a resumed caller may change
    // this object.
    for (request* const one : all)
        resume(*one);
}

/// Leaves the server if it has become a replica. Otherwise the client would stay connected to the
/// replica, which refuses every request. A new connection may reach the new primary, through the
/// host name or a proxy.
void command_connection::judge(const reply& answer, question what) {
    const bool refused = answer.type == reply::kind::error && tells_of_demotion(answer.text);
    const bool demoted = what == question::role && is_replica(answer);
    if (!context_->leave_server || (!refused && !demoted))
        return;
    if (demoted)
        context_->leave_server({store_errc::read_only, "ROLE: it has become a replica"});
    else
        context_->leave_server({classify(answer.text), answer.text});
}

void command_connection::resume(request& done) {
    request::waiter waiter;
    waiter.swap(done.resume);
    try {
        std::move(waiter)();
    } catch (...) {
        // The user's completion handler has thrown an exception, which must not end the coroutine
        // that called the handler. So throw the exception again in the function that runs the
        // executor, as usual in Asio.
        auto throw_again = [bug = std::current_exception()] { std::rethrow_exception(bug); };
        asio::post(context_->home.executor, std::move(throw_again));
    }
}

void command_connection::end(const std::vector<request*>& all, const net::failure& why) {
    const auto shared = std::make_shared<const net::failure>(why);
    for (request* const one : all)
        one->failed = shared;
    // Store all results before the first caller is resumed, because a resumed caller may change
    // this object.
    for (request* const one : all)
        resume(*one);
}

void command_connection::connection_failed(const net::failure& why) {
    trouble_ = why;
    stays_ = false; // once is enough: later, only a request connects again
    end(pipeline_.drop_queued(), why);
}

void command_connection::connection_lost(const net::failure& why) {
    trouble_ = why;
    identity_.lost(context_->home.time.now());
    if (purpose_ == purpose::commands && context_->on_disconnected)
        context_->on_disconnected();
    const bool garbage = why.code() == store_errc::protocol;
    end(pipeline_.drop_written(),
        {garbage ? why.code() : make_error_code(errc::outcome_unknown), why.text()});
}

time_point command_connection::next_limit() const {
    const request* const first = pipeline_.oldest();
    const auto owed_since = pipeline_.owed_since();
    const time_point of_connection = owed_since                ? give_up_at(*owed_since)
                                     : connection_.connected() ? idle_until()
                                                               : time_point::max();
    return std::min({first ? first->deadline : time_point::max(), of_connection,
                     hang_detector_.due(owed_since)});
}

void command_connection::limit_reached(time_point now) {
    std::vector<request*> late;
    for (request* one; (one = pipeline_.oldest()) && one->deadline <= now;) {
        const bool sent = one->standing != request::stage::queued;
        one->failed = std::make_shared<const net::failure>(
            sent ? unanswered(one->deadline - one->asked_at) : unsent(*one));
        stuck_ = stuck_ || !sent;
        late.push_back(one);
        pipeline_.give_up(*one);
    }
    const auto owed_since = pipeline_.owed_since();
    hang_detector_.look(owed_since, now);
    if (owed_since && give_up_at(*owed_since) <= now)
        connection_.cut(unanswered(timeout_));
    else if (!owed_since && connection_.connected() && idle_until() <= now)
        idle();
    // Store all results before the first caller is resumed, because a resumed caller may change
    // this object.
    for (request* const one : late)
        resume(*one);
}

void command_connection::idle() {
    if (purpose_ != purpose::commands)
        return connection_.cut({errc::unreachable, "it was idle"});
    question_is_due_ = true;
    connection_.talk();
}

net::failure command_connection::unsent(const request& asked) const {
    const std::string reason = trouble_ ? trouble_->text()
                               : connection_.connected()
                                   ? context_->address() + " takes no more requests"
                                   : "no connection to " + context_->address() + " yet";
    return {errc::unreachable, "not sent within " +
                                   std::to_string((asked.deadline - asked.asked_at).count()) +
                                   " ms: " + reason};
}

net::failure command_connection::unanswered(duration within) const {
    return {errc::outcome_unknown, context_->address() + " did not answer within " +
                                       std::to_string(within.count()) + " ms"};
}

void command_connection::close() {
    const net::failure closed{errc::closed, context_->address() + ": the client is closed"};
    close_down(closed, closed);
}

void command_connection::retire(const std::string& why) {
    close_down({errc::outcome_unknown, why}, {errc::unreachable, why});
}

void command_connection::close_down(const net::failure& of_written, const net::failure& of_queued) {
    if (closed_)
        return;
    closed_ = of_queued;
    connection_.close();
    deadline_timer_.close();
    const auto end = [this](const std::vector<request*>& all, const net::failure& why) {
        const auto shared = std::make_shared<const net::failure>(why);
        for (request* const one : all) {
            one->failed = shared;
            asio::post(context_->home.executor, std::move(one->resume));
        }
    };
    end(pipeline_.drop_written(), of_written);
    end(pipeline_.drop_queued(), of_queued);
}

command_connections::command_connections(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , usual_{std::make_shared<command_connection>(context_, purpose::commands)} {}

command_connections::pair& command_connections::pair_for(const call_options& options) {
    if (options.replicas == 0)
        return usual_;
    pair& these = confirming_[options.replicas];
    if (!these.first) {
        these.first = std::make_shared<command_connection>(context_, purpose::more_commands,
                                                           options.replicas);
        if (!retired_.empty())
            these.first->retire(retired_);
        else if (closed_)
            these.first->close();
    }
    return these;
}

command_connection& command_connections::pick(const call_options& options) {
    pair& these = pair_for(options);
    const bool is_late = these.first->silent() || (options.elsewhere && these.first->owes());
    if (closed_ || !is_late)
        return *these.first;
    if (!these.spare)
        these.spare = std::make_shared<command_connection>(context_, purpose::more_commands,
                                                           options.replicas);
    else if (these.spare->silent())
        these.spare->cut(
            {errc::outcome_unknown, context_->address() + " does not answer here either"});
    return *these.spare;
}

void command_connections::for_each(const std::function<void(command_connection&)>& act) {
    const auto both = [&act](const pair& these) {
        act(*these.first);
        if (these.spare)
            act(*these.spare);
    };
    both(usual_);
    for (const auto& [replicas, these] : confirming_)
        both(these);
}

bool command_connections::cut_silent(time_point since, const net::failure& why) {
    bool any = false;
    for_each([&](command_connection& each) { any = each.cut_silent(since, why) || any; });
    return any;
}

void command_connections::ask_if_there() {
    for_each([](command_connection& each) { each.ask_if_there(); });
}

void command_connections::cut(const net::failure& why) {
    for_each([&why](command_connection& each) { each.cut(why); });
}

void command_connections::move(const net::failure& why) {
    for_each([&why](command_connection& each) { each.move(why); });
}

void command_connections::follow(const server_in_use& now, const net::failure& why) {
    for_each([&](command_connection& each) {
        if (&each != usual_.first.get())
            each.follow(now, why);
    });
}

void command_connections::distrust(const reply& said, const net::failure& why) {
    for_each([&](command_connection& each) {
        if (each.gave(said))
            each.cut(why);
    });
}

void command_connections::close() {
    if (closed_) // a second call may be on any thread: write nothing
        return;
    closed_ = true;
    for_each([](command_connection& each) { each.close(); });
}

void command_connections::retire(const std::string& why) {
    if (closed_)
        return;
    closed_ = true;
    retired_ = why;
    for_each([&why](command_connection& each) { each.retire(why); });
}

} // namespace holdfast::redis
