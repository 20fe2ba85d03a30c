// SPDX-License-Identifier: Apache-2.0
#include "runtime/real_clock.hpp"

#include "runtime/boot_timer.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <map>
#include <optional>
#include <utility>

namespace holdfast::runtime {

/// Table of sleeping alarms, ordered by their wake-up time. One timer is set for the earliest time.
class real_clock::sleepers {
public:
    using map = std::multimap<time_point, real_alarm*>;

    explicit sleepers(const asio::any_io_executor& executor)
        : timer_{std::in_place, executor, [this] { wake_until(boot_clock::now()); }} {}
    sleepers(const sleepers&) = delete;
    ~sleepers();

    map::iterator add(time_point when, real_alarm& sleeping) {
        const auto place = by_time_.emplace(when, &sleeping);
        if (place == by_time_.begin())
            follow_first();
        return place;
    }
    void remove(map::iterator place) {
        by_time_.erase(place);
        if (all_sleep_for_ever())
            timer_->hush();
    }

    void wake_until(time_point last);
    void let_go();
    bool gone() const { return gone_; }
    void leave_executor() { timer_.reset(); }
    asio::any_io_executor executor() { return timer_->executor(); }

private:
    bool all_sleep_for_ever() const {
        return by_time_.empty() || by_time_.begin()->first == time_point::max();
    }
    void follow_first() {
        if (!all_sleep_for_ever())
            timer_->ring_by(by_time_.begin()->first);
    }

    map by_time_;
    std::optional<boot_timer> timer_;
    bool gone_ = false;
};

class real_clock::real_alarm final : public alarm {
public:
    explicit real_alarm(sleepers& all)
        : all_{all} {}
    ~real_alarm() override {
        if (sleeper_)
            forget_sleeper();
    }

    asio::awaitable<void> wait_until(time_point when) override {
        if (std::exchange(rung_, false) || when <= boot_clock::now())
            co_return;
        auto fall_asleep = [this, when](auto handler) {
            sleeper{std::move(handler)}.swap(sleeper_);
            place_ = all_.add(when, *this);
        };
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(fall_asleep,
                                                                             asio::use_awaitable);
        // This wake-up also serves all earlier rings.
        rung_ = false;
    }

    void ring() noexcept override {
        rung_ = true;
        if (sleeper_)
            wake();
    }

    void wake() {
        if (all_.gone())
            // The executor no longer exists, so a posted handler would never run.
            return forget_sleeper();
        asio::post(all_.executor(), take_sleeper());
    }
    void forget_sleeper() { (void)take_sleeper(); }

private:
    // Use swap() and not move assignment: in Boost 1.81 the move assignment recurses without end.
    using sleeper = asio::any_completion_handler<void()>;

    sleeper take_sleeper() {
        all_.remove(place_);
        sleeper taken;
        taken.swap(sleeper_);
        return taken;
    }

    // Do not use it while there is no sleeper: the clock may be destroyed then.
    sleepers& all_;
    sleeper sleeper_;
    sleepers::map::iterator place_; // valid only while there is a sleeper
    bool rung_ = false;
};

real_clock::sleepers::~sleepers() {
    let_go();
}

void real_clock::sleepers::let_go() {
    gone_ = true;
    while (!by_time_.empty())
        by_time_.begin()->second->forget_sleeper();
}

void real_clock::sleepers::wake_until(time_point last) {
    while (!by_time_.empty() && by_time_.begin()->first <= last)
        by_time_.begin()->second->wake();
    follow_first();
}

real_clock::real_clock(asio::any_io_executor executor)
    : sleepers_{std::make_unique<sleepers>(executor)} {}

real_clock::~real_clock() = default;

std::unique_ptr<alarm> real_clock::make_alarm() {
    return std::make_unique<real_alarm>(*sleepers_);
}

void real_clock::stop() {
    sleepers_->wake_until(time_point::max());
}

void real_clock::let_go() {
    sleepers_->let_go();
}

void real_clock::leave_executor() {
    let_go();
    sleepers_->leave_executor();
}

} // namespace holdfast::runtime
