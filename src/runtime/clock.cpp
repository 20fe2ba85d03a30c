// SPDX-License-Identifier: Apache-2.0
#include "runtime/clock.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

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
        // This wake-up answers all earlier rings, so forget them.
        rung_ = false;
    }

    void ring() noexcept override {
        rung_ = true;
        if (sleeper_)
            wake();
    }

    void wake() {
        if (all_.gone())
            // Post nothing, because the executor no longer exists and a posted handler would never
            // run.
            return forget_sleeper();
        asio::post(all_.executor(), take_sleeper());
    }
    void forget_sleeper() { (void)take_sleeper(); }

private:
    // Use swap() for the handlers, and no move assignment, which recurses without end in Boost
    // 1.81.
    using sleeper = asio::any_completion_handler<void()>;

    sleeper take_sleeper() {
        all_.remove(place_);
        sleeper taken;
        taken.swap(sleeper_);
        return taken;
    }

    // Table of the clock's sleeping alarms. Use this reference only while a coroutine sleeps on
    // this alarm, because otherwise the clock may be destroyed.
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

namespace {

int new_timer_file() {
    const int file = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (file < 0)
        throw boost::system::system_error{errno, boost::system::system_category(),
                                          "timerfd_create"};
    return file;
}

itimerspec setting_for(time_point when) {
    const auto since_boot = when.time_since_epoch();
    const auto whole = std::chrono::floor<std::chrono::seconds>(since_boot);
    itimerspec setting{};
    setting.it_value.tv_sec = whole.count();
    setting.it_value.tv_nsec = std::chrono::nanoseconds{since_boot - whole}.count();
    return setting;
}

} // namespace

boot_timer::boot_timer(const asio::any_io_executor& executor, std::function<void()> on_ring)
    : file_{executor, new_timer_file()}
    , on_ring_{std::move(on_ring)} {}

void boot_timer::ring_by(time_point when) {
    if (when < set_for_)
        set_for(when);
    if (!listening_)
        listen();
}

void boot_timer::hush() {
    if (std::exchange(listening_, false))
        file_.cancel();
}

void boot_timer::set_for(time_point when) {
    const itimerspec setting = setting_for(when);
    if (::timerfd_settime(file_.native_handle(), TFD_TIMER_ABSTIME, &setting, nullptr) != 0)
        throw boost::system::system_error{errno, boost::system::system_category(),
                                          "timerfd_settime"};
    set_for_ = when;
}

void boot_timer::listen() {
    listening_ = true;
    auto ready = [this, alive = std::weak_ptr{alive_}, number = ++listened_](error_code failed) {
        if (alive.lock() && !failed && listening_ && number == listened_)
            heard();
    };
    file_.async_wait(asio::posix::stream_descriptor::wait_read, std::move(ready));
}

void boot_timer::heard() {
    listening_ = false;
    set_for_ = time_point::max();
    std::uint64_t times = 0;
    // Reads how many times the timer has expired. After this read, the timer's file descriptor is
    // not readable until the timer is set again.
    (void)!::read(file_.native_handle(), &times, sizeof times);
    on_ring_();
}

} // namespace holdfast::runtime
