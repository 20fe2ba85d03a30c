// SPDX-License-Identifier: Apache-2.0
#include "redis/pursuit.hpp"

#include "net/later.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

void tell_moved(const store_context& home, const std::string& address, const std::string& told_by) {
    if (home.tell)
        home.tell({.kind = event_kind::moved,
                   .name = address.data(),
                   .name_size = address.size(),
                   .text = told_by.data(),
                   .text_size = told_by.size()});
}

void pauses::end() {
    if (std::exchange(ended_, true)) // a second call may come from the destructor, on any thread
        return;
    for (alarm* const each : all_)
        each->ring();
}

pursuit::pursuit(const store_context& home, std::shared_ptr<pauses> all, duration command_timeout,
                 call_wishes& wishes)
    : home_{home}
    , all_{std::move(all)}
    , began_{home.time.now()}
    , limit_{std::min(wishes.answer_by, net::later(began_, command_timeout))} {
    wishes.answer_by = limit_;
}

pursuit::~pursuit() {
    if (alarm_)
        all_->remove(*alarm_);
}

asio::awaitable<void> pursuit::rest(const net::failure& why) {
    const auto jitter = static_cast<duration::rep>(home_.random() % 1000);
    const duration pause = pause_min + (pause_max - pause_min) * jitter / 1000;
    const time_point again_at = net::later(home_.time.now(), pause);
    if (why.code() != errc::unreachable || again_at >= limit_)
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
