// SPDX-License-Identifier: Apache-2.0
#include "net/deadlines.hpp"

#include "runtime/background.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace holdfast::net {

struct time_limit::state {
    clock& time;
    std::unique_ptr<alarm> sleep = time.make_alarm();
    std::function<void()> late;

    static asio::awaitable<void> run(std::shared_ptr<state> self, time_point when) {
        // If `late` is empty, the time_limit object was destroyed. Do not read the clock in this
        // case, because the clock may be destroyed, too.
        while (self->late && self->time.now() < when)
            co_await self->sleep->wait_until(when);
        if (self->late)
            std::exchange(self->late, {})();
    }
};

time_limit::time_limit(const store_context& home, time_point when, std::function<void()> late)
    : state_{std::make_shared<state>(state{.time = home.time, .late = std::move(late)})} {
    runtime::run_in_background(home, state::run(state_, when));
}

time_limit::~time_limit() {
    state_->late = {};
    state_->sleep->ring();
}

deadline_timer::deadline_timer(const store_context& home, std::function<time_point()> next,
                               std::function<void(time_point now)> reached)
    : home_{home}
    , next_{std::move(next)}
    , reached_{std::move(reached)}
    , alarm_{home_.time.make_alarm()} {}

void deadline_timer::watch_for(time_point limit, std::shared_ptr<void> keep) {
    if (closed_)
        return;
    if (!std::exchange(watching_, true))
        runtime::run_in_background(home_, watch(std::move(keep)));
    else if (limit < asleep_until_)
        alarm_->ring();
}

asio::awaitable<void> deadline_timer::watch(std::shared_ptr<void>) {
    asleep_until_ = time_point::min(); // the loop then reads all deadlines anyway
    // Do not start the loop inside the caller's function, because the caller has not yet stored the
    // deadline.
    co_await asio::post(home_.executor, asio::use_awaitable);
    time_point seen_to = time_point::min();
    while (!closed_) {
        const time_point limit = next_();
        if (limit == time_point::max())
            break;
        asleep_until_ = std::max(limit, seen_to);
        co_await alarm_->wait_until(asleep_until_);
        if (closed_)
            break;
        const time_point now = home_.time.now();
        reached_(now);
        seen_to = now + duration{1}; // a connection that was cut needs time to notice the cut
    }
    watching_ = false;
}

void deadline_timer::close() {
    closed_ = true;
    alarm_->ring();
}

namespace {

/// Reduces an error code to one of two values: `errc::refused` if the code is equal to this value,
/// and `errc::unreachable` for all other codes.
errc meaning_of(const error_code& code) {
    return code == errc::refused ? errc::refused : errc::unreachable;
}

void tell(const store_context& home, const std::string& address, event_kind kind,
          const failure& why) {
    if (!home.tell)
        return;
    home.tell({.kind = kind,
               .cause = event_cause::failed,
               .name = address.data(),
               .name_size = address.size(),
               .code = static_cast<std::int32_t>(meaning_of(why.code())),
               .text = why.text().data(),
               .text_size = why.text().size()});
}

} // namespace

void tell_impaired(const store_context& home, const std::string& address, const failure& why) {
    tell(home, address, event_kind::impaired, why);
}

void connectivity_reporter::gone(const std::string& address, const failure& why) {
    if (gone_since_)
        return;
    gone_since_ = home_.time.now();
    tell(home_, address, event_kind::disconnected, why);
}

void connectivity_reporter::back(const std::string& address) {
    if (!gone_since_)
        return;
    const std::chrono::microseconds away = home_.time.now() - *gone_since_;
    gone_since_.reset();
    if (home_.tell)
        home_.tell({.kind = event_kind::reconnected,
                    .name = address.data(),
                    .name_size = address.size(),
                    .duration_us = away.count()});
}

} // namespace holdfast::net
