// SPDX-License-Identifier: Apache-2.0
#include "redis/ear/ear.hpp"

#include "net/later.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

class ear::listening final : public hearing {
public:
    listening(std::shared_ptr<ear> home, std::string name, alarm& wake, linger afterwards,
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

private:
    const std::shared_ptr<ear> home_;
    const linger afterwards_;
    listener self_;
};

ear::ear(std::shared_ptr<node_context> context)
    : context_{std::move(context)}
    , suspicion_{*context_}
    , link_{*context_, purpose::listening, *this}
    , lookout_{context_->home, [this] { return next_limit(); },
               [this](time_point now) { limit_reached(now); }} {}

std::unique_ptr<hearing> ear::hear(channel_name name, alarm& wake, linger afterwards, bool late) {
    auto heard = std::make_unique<listening>(shared_from_this(), std::move(name.text), wake,
                                             afterwards, late);
    link_.talk();
    return heard;
}

void ear::leave(listener& who, linger afterwards) {
    if (closed_ || afterwards == linger::none) { // the clock may be gone after close()
        channels_.remove(who, std::nullopt);
        if (link_.connected())
            link_.talk();
        return;
    }
    const time_point until = net::later(now(), context_->how.subscription_linger);
    channels_.remove(who, until);
    if (channels_.next_due())
        watch_for(until);
}

asio::awaitable<bool> ear::confirmed(listener& who, time_point limit) {
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

void ear::speak(std::string& out) {
    channels_.compose(out, now());
    if (!out.empty())
        watch_for(next_limit());
}

void ear::hear(reply& said, time_point received_at) {
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

void ear::follow(const server_in_use& now, const net::failure& why) {
    if (now.may_be_another && !(link_.connected() && now.serves(run_id_)))
        link_.move(why);
}

void ear::connected(const introduction& told) {
    run_id_ = told.run_id;
    last_heard_ = now();
    refusal_told_ = false;
    channels_.connected(context_->form);
    watch_for(next_limit());
}

time_point ear::idle_until() const {
    // A waiter polls after `poll_bound` even without a message, so a dead connection need not be
    // found earlier.
    const duration longest =
        context_->in_trouble ? silence_max
                             : std::max(context_->how.command_timeout, context_->home.poll_bound);
    return net::later(last_heard_, longest);
}

time_point ear::next_limit() const {
    time_point first = channels_.next_due().value_or(time_point::max());
    if (const auto owed_since = channels_.owed_since())
        first = std::min({first, net::later(*owed_since, context_->how.command_timeout),
                          suspicion_.due(owed_since)});
    else if (link_.connected() && channels_.any_wanted())
        first = std::min(first, idle_until());
    return first;
}

void ear::limit_reached(time_point now) {
    const duration patience = context_->how.command_timeout;
    suspicion_.look(channels_.owed_since(), now);
    if (const auto owed_since = channels_.owed_since()) {
        if (net::later(*owed_since, patience) <= now)
            link_.cut({errc::unreachable,
                       "no answer within " + std::to_string(patience.count()) + " ms"});
    } else if (link_.connected() && channels_.any_wanted() && idle_until() <= now) {
        channels_.ping();
    }
    channels_.advance(now);
    if (link_.connected())
        link_.talk();
}

bool ear::cut_silent(time_point since, const net::failure& why) {
    const auto owed_since = channels_.owed_since();
    if (!link_.connected() || !owed_since || *owed_since > since)
        return false;
    link_.cut(why);
    return true;
}

void ear::ask_if_there() {
    if (!link_.connected() || !channels_.any_wanted() || channels_.owed_since())
        return;
    channels_.ping();
    link_.talk();
}

void ear::close() {
    if (std::exchange(closed_, true))
        return;
    link_.close();
    lookout_.close();
    channels_.close();
}

} // namespace holdfast::redis
