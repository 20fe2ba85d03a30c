// SPDX-License-Identifier: Apache-2.0
#include "runtime/boot_timer.hpp"

#include <boost/system/system_error.hpp>

#include <cerrno>
#include <cstdint>
#include <utility>

#include <sys/timerfd.h>
#include <unistd.h>

namespace holdfast::runtime {
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
    // Reads the number of expiries. After that, the file is not readable until the timer is set
    // again.
    (void)!::read(file_.native_handle(), &times, sizeof times);
    on_ring_();
}

} // namespace holdfast::runtime
