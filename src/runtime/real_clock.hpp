// SPDX-License-Identifier: Apache-2.0
// The machine's time, for everything but tests.
#pragma once

#include <holdfast/time.hpp>

#include <memory>

namespace holdfast::runtime {

/// For who only asks what time it is. Thread-safe.
inline time_point machine_time() noexcept {
    return boot_clock::now();
}

/// Sleeps on CLOCK_BOOTTIME, which Asio's own timers cannot: they stand still while the machine is
/// suspended, and a lease does not. One timer for all alarms, which keeps the executor busy only
/// while somebody sleeps.
///
/// Thread safety: `now` from anywhere; all else, and every alarm, on the executor.
class real_clock final : public clock {
public:
    explicit real_clock(asio::any_io_executor);
    real_clock(const real_clock&) = delete;
    ~real_clock() override; ///< ends who still sleeps

    time_point now() const noexcept override { return machine_time(); }
    std::unique_ptr<alarm> make_alarm() override; ///< may outlive the clock, if nobody waits on it

    /// Wakes every sleeper once.
    void stop();

    /// Destroys every sleeper: a coroutine and the alarm in its frame keep each other. Everything
    /// that sleeps may die in this call, so the caller keeps the clock alive.
    void let_go();

    /// Destroys what was made on the executor: nobody sleeps any more, nor will.
    void leave_executor();

private:
    class sleepers;
    class real_alarm;

    std::unique_ptr<sleepers> sleepers_;
};

} // namespace holdfast::runtime
