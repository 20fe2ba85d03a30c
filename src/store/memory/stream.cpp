// SPDX-License-Identifier: Apache-2.0
#include "store/memory/stream.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::memory {

void stream::send(std::uint64_t write, copy all, time_point now) {
    const std::lock_guard lock_it{mutex_};
    if (is_cut_)
        return;
    last_arrival_ = std::max(last_arrival_, now + lag_);
    under_way_.push_back({write, std::move(all), last_arrival_, last_arrival_ + lag_});
    settle(now);
}

void stream::settle(time_point now) {
    if (is_cut_ || is_paused_)
        return;
    for (parcel& each : under_way_) {
        if (each.arrives_at > now)
            break;
        if (each.all) {
            latest_ = std::exchange(each.all, nullptr);
            arrived_ = each.write;
        }
    }
    while (!under_way_.empty() && under_way_.front().known_at <= now) {
        confirmed_ = under_way_.front().write;
        under_way_.pop_front();
    }
}

std::optional<std::uint64_t> stream::confirmed(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    return confirmed_;
}

time_point stream::next_confirmation(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    return under_way_.empty() || is_paused_ ? time_point::max() : under_way_.front().known_at;
}

stream::copy stream::take_arrived(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    return std::exchange(latest_, nullptr);
}

std::optional<std::uint64_t> stream::arrived(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    return arrived_;
}

void stream::set_lag(duration lag) {
    const std::lock_guard lock_it{mutex_};
    lag_ = lag;
}

bool stream::is_cut() {
    const std::lock_guard lock_it{mutex_};
    return is_cut_;
}

void stream::cut(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    under_way_.clear();
    is_cut_ = true;
}

void stream::pause(time_point now) {
    const std::lock_guard lock_it{mutex_};
    settle(now);
    is_paused_ = true;
}

void stream::go_on(time_point now) {
    const std::lock_guard lock_it{mutex_};
    is_paused_ = false;
    for (parcel& each : under_way_) {
        if (each.all)
            each.arrives_at = std::max(each.arrives_at, now);
        each.known_at = std::max(each.known_at, now + lag_);
        last_arrival_ = std::max(last_arrival_, each.arrives_at);
    }
    settle(now);
}

} // namespace holdfast::memory
