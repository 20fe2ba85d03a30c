// SPDX-License-Identifier: Apache-2.0
// The machine's clock, used everywhere except in tests, and the timer that wakes its alarms.
#pragma once

#include <holdfast/time.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace holdfast::runtime {

/// Returns the time, for code that needs no alarms. Thread-safe.
inline time_point machine_time() noexcept {
    return boot_clock::now();
}

/// Clock and alarms on CLOCK_BOOTTIME. Asio's own timers stop while the machine is suspended, but
/// the time of a lease continues. One timer serves all alarms, and gives the executor work only
/// while an alarm sleeps.
///
/// Thread safety: any thread may call `now()`. Call all other functions, and use the alarms, only
/// on the executor.
class real_clock final : public clock {
public:
    explicit real_clock(asio::any_io_executor);
    real_clock(const real_clock&) = delete;
    ~real_clock() override; ///< destroys all sleepers

    time_point now() const noexcept override { return machine_time(); }
    /// Creates an alarm. The alarm may outlive the clock if no coroutine waits on the alarm.
    std::unique_ptr<alarm> make_alarm() override;

    /// Wakes every sleeping alarm once.
    void stop();

    /// Destroys all sleeping coroutines. This is necessary because a sleeping coroutine and its
    /// alarm keep each other alive: the alarm is in the coroutine's frame. The call may drop the
    /// last reference to the clock, so the caller must hold a reference.
    void let_go();

    /// Destroys everything that uses the executor. No alarm may sleep after this call.
    void leave_executor();

private:
    class sleepers;
    class real_alarm;

    std::unique_ptr<sleepers> sleepers_;
};

// A timer on CLOCK_BOOTTIME, built on timerfd. Asio has no timer for that clock.

/// Timer that calls the function `on_ring` on the executor.
///
/// Thread safety: call everything on the executor.
class boot_timer {
public:
    boot_timer(const asio::any_io_executor&, std::function<void()> on_ring);
    boot_timer(const boot_timer&) = delete;

    /// Makes the timer ring once, at the given time at the latest. The timer may ring earlier, at a
    /// time that an earlier call requested. An unnecessary ring costs less than setting the timer
    /// anew for each sleeper.
    void ring_by(time_point);

    /// Stops the timer until the next call of `ring_by()`. A stopped timer gives the executor no
    /// work.
    void hush();

    asio::any_io_executor executor() { return file_.get_executor(); }

private:
    void set_for(time_point);
    void listen();
    void heard();

    asio::posix::stream_descriptor file_;
    std::function<void()> on_ring_;
    time_point set_for_ = time_point::max();
    bool listening_ = false;
    // Number of the last wait; each wait gets a greater number than the wait before it. The handler
    // of a cancelled wait may still run. Its smaller number shows that the wait was cancelled.
    std::uint64_t listened_ = 0;
    const std::shared_ptr<void> alive_ = std::make_shared<char>();
};

} // namespace holdfast::runtime
