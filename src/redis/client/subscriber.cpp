// SPDX-License-Identifier: Apache-2.0
#include "redis/client/subscriber.hpp"

#include "net/deadlines.hpp"
#include "redis/client/error_replies.hpp"
#include "redis/client/resp.hpp"

#include <algorithm>

namespace holdfast::redis {

void channels::add(listener& who, std::string name, bool late) {
    channel& where = channels_[name];
    where.missed = where.missed || late;
    where.name = std::move(name);
    where.listeners.push_back(who);
    who.where = &where;
    if (!where.refused) // after a refusal, `due` is the next attempt: keep it
        unschedule(where);
    want(where, true);
    if (late && confirmed(where) && std::exchange(where.missed, false))
        who.wake.ring();
}

void channels::remove(listener& who, std::optional<time_point> until) {
    channel& where = *std::exchange(who.where, nullptr);
    where.listeners.erase(where.listeners.iterator_to(who));
    if (!where.listeners.empty())
        return;
    if (where.refused || !connected_ || !until)
        want(where, false);
    else
        schedule(where, *until);
    forget_if_idle(where);
}

bool channels::confirmed(const channel& where) {
    return where.wanted && where.told && where.unanswered == 0;
}

bool channels::heard(const std::string& name) const {
    const auto found = channels_.find(name);
    return found != channels_.end() && confirmed(found->second);
}

bool channels::given_up(const channel& where) const {
    if (!connected_)
        return hopeless_;
    return where.refused && !where.to_be_told && where.unanswered == 0;
}

void channels::want(channel& where, bool wanted) {
    if (std::exchange(where.wanted, wanted) != wanted)
        wanted ? ++wanted_ : --wanted_;
    if (connected_ && !where.refused && where.wanted != where.told)
        tell_later(where);
}

void channels::tell_later(channel& where) {
    if (!std::exchange(where.to_be_told, true))
        to_be_told_.push_back(&where);
}

void channels::schedule(channel& where, time_point when) {
    unschedule(where);
    where.due = due_channels_.emplace(when, &where);
}

void channels::unschedule(channel& where) {
    if (where.due)
        due_channels_.erase(*std::exchange(where.due, std::nullopt));
}

void channels::forget_if_idle(channel& where) {
    const bool idle = !where.wanted && !where.told && !where.to_be_told && where.unanswered == 0;
    if (!idle || !where.listeners.empty())
        return;
    unschedule(where);
    channels_.erase(channels_.find(where.name));
}

void channels::connected(telling form) {
    form_ = form;
    connected_ = true;
    hopeless_ = false;
    for (auto& [name, where] : channels_)
        want(where, where.wanted);
}

void channels::disconnected() {
    connected_ = false;
    ping_is_due_ = false;
    expected_.clear();
    to_be_told_.clear();
    due_channels_.clear();
    for (auto next = channels_.begin(); next != channels_.end();) {
        channel& where = (next++)->second; // forget_if_idle() may erase this channel
        where.told = where.to_be_told = where.refused = where.halved = false;
        where.due.reset();
        where.unanswered = 0;
        where.missed = true;
        if (where.listeners.empty())
            want(where, false);
        forget_if_idle(where);
    }
}

void channels::give_up() {
    hopeless_ = true;
    for (auto& [name, where] : channels_) {
        where.missed = true;
        settle(where);
    }
}

void channels::close() {
    disconnected();
    give_up();
}

void channels::compose(std::string& out, time_point now) {
    for (channel* const where : std::exchange(to_be_told_, {})) {
        where->to_be_told = false;
        if (where->wanted == where->told) {
            forget_if_idle(*where);
            continue;
        }
        where->told = where->wanted;
        if (form_ != telling::sharded)
            tell(out, *where, false, now);
        if (form_ != telling::plain)
            tell(out, *where, true, now);
    }
    if (std::exchange(ping_is_due_, false)) {
        expected_.push_back({nullptr, false, false, now});
        composer{out}.request({"PING"});
    }
}

/// Appends a command for one channel. Each command names only one channel, so that a refusal shows
/// which channel was refused.
void channels::tell(std::string& out, channel& where, bool sharded, time_point now) {
    const char* const verb = where.told ? (sharded ? "SSUBSCRIBE" : "SUBSCRIBE")
                                        : (sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE");
    ++where.unanswered;
    expected_.push_back({&where, where.told, sharded, now});
    composer{out}.request({verb, where.name});
}

std::optional<net::failure> channels::hear(const reply& said, time_point try_again_at) {
    if (said.type == reply::kind::error)
        return refuse(said, try_again_at);
    const auto& items = said.items;
    if (items.size() == 3 && (items[0].text == "message" || items[0].text == "smessage"))
        message(items[1].text, items[2].text);
    else if (items.size() == 3 && items[0].text == "sunsubscribe" && form_ == telling::plain)
        return std::nullopt; // this connection has no sharded subscriptions
    else if (items.size() == 3 && is_unasked(items[0], items[1]))
        dropped(items[1].text, try_again_at);
    else if (items.size() == 3)
        answer(items[0], items[1], try_again_at);
    else if (next_expected().about) // otherwise it is a reply to PING, which has two forms
        throw net::failure{store_errc::protocol, "an unexpected answer to a subscription"};
    return std::nullopt;
}

/// Returns whether the server has ended a subscription although this client sent no command for it.
/// A server does so when a slot moves or its role changes.
bool channels::is_unasked(const reply& verb, const reply& name) const {
    const bool sharded = verb.text == "sunsubscribe";
    const bool awaited = !expected_.empty() && expected_.front().about &&
                         !expected_.front().subscribe && expected_.front().sharded == sharded &&
                         expected_.front().about->name == name.text;
    return (sharded || verb.text == "unsubscribe") && !awaited;
}

void channels::dropped(const std::string& name, time_point try_again_at) {
    dropped_ = true;
    const auto found = channels_.find(name);
    if (found == channels_.end() || !confirmed(found->second))
        return; // the replies to pending commands decide
    channel& where = found->second;
    try_again(where, try_again_at);
    forget_if_idle(where);
}

void channels::message(const std::string& name, const std::string& text) {
    const auto found = channels_.find(name);
    if (found == channels_.end())
        return; // sent before the server processed the unsubscription
    for (listener& one : found->second.listeners) {
        one.last_message = text;
        one.wake.ring();
    }
}

channels::expected channels::next_expected() {
    if (expected_.empty())
        throw net::failure{store_errc::protocol, "an answer to no request"};
    const expected next = expected_.front();
    expected_.pop_front();
    if (next.about)
        --next.about->unanswered;
    return next;
}

/// Returns whether `of` is the plain subscription to a channel, and the next reply is for the
/// sharded subscription to the same channel.
bool channels::is_twin_awaited(const expected& of) const {
    return form_ == telling::both && !of.sharded && !expected_.empty() &&
           expected_.front().about == of.about && expected_.front().sharded;
}

void channels::answer(const reply& verb, const reply& name, time_point try_again_at) {
    const expected asked = next_expected();
    const std::string verb_asked =
        std::string{asked.sharded ? "s" : ""} + (asked.subscribe ? "subscribe" : "unsubscribe");
    if (!asked.about || verb.text != verb_asked || name.text != asked.about->name)
        throw net::failure{store_errc::protocol, "an answer to another subscription"};
    channel& where = *asked.about;
    if (std::exchange(where.halved, false) && where.told && where.unanswered == 0)
        return try_again(where, try_again_at);
    if (confirmed(where)) {
        settle(where);
        if (std::exchange(where.missed, false))
            for (listener& one : where.listeners)
                one.wake.ring();
    }
    forget_if_idle(where);
}

std::optional<net::failure> channels::refuse(const reply& error, time_point try_again_at) {
    const expected asked = next_expected();
    if (!asked.about)
        return std::nullopt; // a server that refuses a PING is alive
    channel& where = *asked.about;
    std::optional<net::failure> why;
    // Ignore the error of an UNSUBSCRIBE, because this error does no harm. Also ignore the error if
    // newer commands about the channel are pending, because the replies to these commands decide.
    if (asked.subscribe && (where.unanswered == 0 || is_twin_awaited(asked))) {
        why.emplace(classify(error.text),
                    "cannot listen to " + where.name + ": " +
                        with_missing_right(error.text, missing_right(error.text, where.name)));
        where.halved = where.unanswered > 0;
        if (!where.halved)
            try_again(where, try_again_at);
    }
    forget_if_idle(where);
    return why;
}

/// Marks the channel as not subscribed, and schedules another attempt at `when`.
void channels::try_again(channel& where, time_point when) {
    where.told = false;
    where.refused = where.missed = true;
    schedule(where, when);
    settle(where);
    if (where.listeners.empty())
        want(where, false);
}

void channels::settle(channel& where) {
    for (listener& one : where.listeners)
        if (one.settled)
            one.settled->ring();
}

void channels::advance(time_point now) {
    while (!due_channels_.empty() && due_channels_.begin()->first <= now) {
        channel& where = *due_channels_.begin()->second;
        unschedule(where);
        where.refused = false;
        want(where, !where.listeners.empty());
    }
}

std::optional<time_point> channels::next_due() const {
    return due_channels_.empty() ? std::nullopt : std::optional{due_channels_.begin()->first};
}

std::optional<time_point> channels::owed_since() const {
    return expected_.empty() ? std::nullopt : std::optional{expected_.front().sent_at};
}

class subscriber::listening final : public hearing {
public:
    listening(std::shared_ptr<subscriber> home, std::string name, alarm& wake, linger afterwards,
              bool late)
        : home_{std::move(home)}
        , afterwards_{afterwards}
        , self_{wake} {
        home_->channels_.add(self_, std::move(name), late);
    }
    ~listening() override { home_->leave(self_, afterwards_); }

    asio::awaitable<bool> confirmed(time_point limit) override {
        return home_->confirmed(self_, limit);
    }
    std::string_view last_message() const override { return self_.last_message; }

private:
    const std::shared_ptr<subscriber> home_;
    const linger afterwards_;
    listener self_;
};

subscriber::subscriber(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , hang_detector_{*context_}
    , connection_{*context_, purpose::listening, *this}
    , deadline_timer_{context_->home, [this] { return next_limit(); },
                      [this](time_point now) { limit_reached(now); }} {}

std::unique_ptr<hearing> subscriber::hear(channel_name name, alarm& wake, linger afterwards,
                                          bool late) {
    auto heard = std::make_unique<listening>(shared_from_this(), std::move(name.text), wake,
                                             afterwards, late);
    connection_.talk();
    return heard;
}

void subscriber::leave(listener& who, linger afterwards) {
    if (closed_ || afterwards == linger::none) { // after close(), the clock may not exist
        channels_.remove(who, std::nullopt);
        if (connection_.connected())
            connection_.talk();
        return;
    }
    const time_point until = net::later(now(), context_->how.subscription_linger);
    channels_.remove(who, until);
    if (channels_.next_due())
        watch_for(until);
}

asio::awaitable<bool> subscriber::confirmed(listener& who, time_point limit) {
    channel& where = *who.where;
    while (!channels::confirmed(where) && !channels_.given_up(where) && now() < limit) {
        if (!who.settled)
            who.settled = context_->home.time.make_alarm();
        co_await who.settled->wait_until(limit);
    }
    const bool sure = channels::confirmed(where);
    where.missed = where.missed || !sure;
    co_return sure;
}

void subscriber::speak(std::string& out) {
    channels_.compose(out, now());
    if (!out.empty())
        watch_for(next_limit());
}

void subscriber::hear(reply& said, time_point received_at) {
    last_heard_ = received_at;
    const bool is_redirected =
        said.type == reply::kind::error && context_->redirected && said.text.starts_with("MOVED");
    const std::string words = is_redirected ? said.text : std::string{};
    const time_point try_again_at = net::later(received_at, context_->how.backoff_max);
    const auto refused = channels_.hear(said, try_again_at);
    if (channels_.next_due() == try_again_at)
        watch_for(try_again_at);
    if (channels_.any_dropped() && context_->in_trouble)
        context_->in_trouble();
    if (is_redirected)
        context_->redirected(words);
    else if (refused && !std::exchange(refusal_told_, true))
        net::tell_impaired(context_->home, context_->address(), *refused);
}

void subscriber::follow(const server_in_use& now, const net::failure& why) {
    if (now.may_be_another && !(connection_.connected() && now.serves(run_id_)))
        connection_.move(why);
}

void subscriber::connected(const server_hello& told) {
    run_id_ = told.run_id;
    last_heard_ = now();
    refusal_told_ = false;
    channels_.connected(context_->form);
    watch_for(next_limit());
}

time_point subscriber::idle_until() const {
    // Time without a message after which the connection is tested. This time need not be shorter
    // than `poll_bound`, because a waiter polls after `poll_bound` even without a message.
    const duration longest =
        context_->in_trouble ? silence_max
                             : std::max(context_->how.command_timeout, context_->home.poll_bound);
    return net::later(last_heard_, longest);
}

time_point subscriber::next_limit() const {
    time_point first = channels_.next_due().value_or(time_point::max());
    if (const auto owed_since = channels_.owed_since())
        first = std::min({first, net::later(*owed_since, context_->how.command_timeout),
                          hang_detector_.due(owed_since)});
    else if (connection_.connected() && channels_.any_wanted())
        first = std::min(first, idle_until());
    return first;
}

void subscriber::limit_reached(time_point now) {
    const duration timeout = context_->how.command_timeout;
    hang_detector_.look(channels_.owed_since(), now);
    if (const auto owed_since = channels_.owed_since()) {
        if (net::later(*owed_since, timeout) <= now)
            connection_.cut(
                {errc::unreachable, "no answer within " + std::to_string(timeout.count()) + " ms"});
    } else if (connection_.connected() && channels_.any_wanted() && idle_until() <= now) {
        channels_.ping();
    }
    channels_.advance(now);
    if (connection_.connected())
        connection_.talk();
}

bool subscriber::cut_silent(time_point since, const net::failure& why) {
    const auto owed_since = channels_.owed_since();
    if (!connection_.connected() || !owed_since || *owed_since > since)
        return false;
    connection_.cut(why);
    return true;
}

void subscriber::ask_if_there() {
    if (!connection_.connected() || !channels_.any_wanted() || channels_.owed_since())
        return;
    channels_.ping();
    connection_.talk();
}

void subscriber::close() {
    if (std::exchange(closed_, true))
        return;
    connection_.close();
    deadline_timer_.close();
    channels_.close();
}

} // namespace holdfast::redis
