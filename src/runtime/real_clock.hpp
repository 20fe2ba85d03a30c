// SPDX-License-Identifier: Apache-2.0
// The machine's clock, used everywhere except in tests.
#pragma once

#include <holdfast/time.hpp>

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
    /// Creates an alarm. The alarm may outlive the clock if nothing waits on the alarm.
    std::unique_ptr<alarm> make_alarm() override;

    /// Wakes every sleeping alarm once.
    void stop();

    /// Destroys all sleeping coroutines. This is necessary because a sleeping coroutine and the
    /// alarm in its frame keep each other alive. The call may drop the last reference to the clock,
    /// so the caller must hold a reference.
    void let_go();

    /// Destroys everything that uses the executor. No alarm may sleep after this call.
    void leave_executor();

private:
    class sleepers;
    class real_alarm;

    std::unique_ptr<sleepers> sleepers_;
};

} // namespace holdfast::runtime
