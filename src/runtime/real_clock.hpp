// SPDX-License-Identifier: Apache-2.0
// The machine's clock, used everywhere except in tests.
#pragma once

#include <holdfast/time.hpp>

#include <memory>

namespace holdfast::runtime {

/// Returns the time. For code that needs no alarms. Thread-safe.
inline time_point machine_time() noexcept {
    return boot_clock::now();
}

/// Clock and alarms on CLOCK_BOOTTIME. Asio's own timers stand still while the machine is
/// suspended, but a lease does not. One timer serves all alarms, and gives the executor work only
/// while an alarm sleeps.
///
/// Thread safety: any thread may call `now()`. Everything else, and every alarm, only on the
/// executor.
class real_clock final : public clock {
public:
    explicit real_clock(asio::any_io_executor);
    real_clock(const real_clock&) = delete;
    ~real_clock() override; ///< destroys all sleepers

    time_point now() const noexcept override { return machine_time(); }
    /// Makes an alarm. The alarm may outlive the clock, if nothing waits on it.
    std::unique_ptr<alarm> make_alarm() override;

    /// Wakes every sleeper once.
    void stop();

    /// Destroys all sleepers. A sleeping coroutine and the alarm in its frame keep each other
    /// alive. Destroying them may drop the last reference to the clock, so the caller must hold
    /// one.
    void let_go();

    /// Destroys everything that uses the executor. No alarm may sleep after that.
    void leave_executor();

private:
    class sleepers;
    class real_alarm;

    std::unique_ptr<sleepers> sleepers_;
};

} // namespace holdfast::runtime
