// SPDX-License-Identifier: Apache-2.0
// Time types of the library. A simulation can replace the clock.
#pragma once

#include <holdfast/asio.hpp>
#include <holdfast/export.hpp>

#include <chrono>
#include <memory>

namespace holdfast {

/// Clock of the library: CLOCK_BOOTTIME, which runs while the machine is suspended, and never
/// jumps. Its values are not calendar dates.
struct HOLDFAST_EXPORT boot_clock {
    using duration = std::chrono::milliseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boot_clock, duration>;
    static constexpr bool is_steady = true;

    /// Returns the present time, rounded down to a whole millisecond. Thread-safe.
    static time_point now() noexcept;
};

/// Length of time in whole milliseconds, as all functions of the library use it.
using duration = boot_clock::duration;

/// A time on the client's own clock; `time_point::max()` means never.
using time_point = boot_clock::time_point;

/// Timer that wakes one waiting coroutine at a given time, or earlier if `ring()` is called. Thread
/// safety: one coroutine at a time may wait. Call all functions on the client's executor.
class alarm {
public:
    virtual ~alarm() = default;

    /// Waits until the time `when`, or until `ring()` is called. If `ring()` was called while no
    /// coroutine waited, the next wait ends at once. So a wait may end too early, but no call of
    /// `ring()` is lost.
    virtual asio::awaitable<void> wait_until(time_point when) = 0;
    virtual void ring() noexcept = 0;
};

/// Source of time. Production uses CLOCK_BOOTTIME; a test may pass its own clock to `client`. The
/// clock must live until the client's `close()` has completed, and is not used after that. Its
/// alarms may be destroyed later than the clock, so an alarm without a waiter must not use the
/// clock.
class clock {
public:
    virtual ~clock() = default;
    virtual time_point now() const noexcept = 0; ///< thread-safe
    virtual std::unique_ptr<alarm> make_alarm() = 0;
};

/// Time for which a lock is held if its hold is not renewed. The type is separate, so that a lease
/// time cannot be confused with a timeout. The time is rounded down to milliseconds. The time must
/// be between 1 ms and 10 years; the client checks this before it sends a request.
struct lease_time {
    template <typename Rep, typename Period>
    explicit constexpr lease_time(std::chrono::duration<Rep, Period> length);
    duration value;
};

namespace detail {

enum class rounding { up, down };

/// Converts `length` to whole milliseconds. A length that is too great becomes the greatest
/// duration. So `hours::max()` means "for ever" and does not overflow. A length that is too small
/// becomes the smallest duration. NaN becomes zero.
template <typename Rep, typename Period>
constexpr duration saturate(std::chrono::duration<Rep, Period> length, rounding to) {
    using wide = std::chrono::duration<long double, std::milli>;
    const long double count = wide{length}.count();
    if (count != count)
        return duration::zero();
    if (count >= static_cast<long double>(duration::max().count()))
        return duration::max();
    if (count <= static_cast<long double>(duration::min().count()))
        return duration::min();
    const auto whole = static_cast<duration::rep>(count);
    const long double rest = count - static_cast<long double>(whole);
    return duration{whole + (to == rounding::up && rest > 0 ? 1 : 0) -
                    (to == rounding::down && rest < 0 ? 1 : 0)};
}

/// Returns the time that is left until `deadline`, measured on the deadline's own clock.
template <typename Clock, typename Duration>
duration timeout_until(std::chrono::time_point<Clock, Duration> deadline) {
    if (deadline == std::chrono::time_point<Clock, Duration>::max())
        return duration::max();
    const auto now = Clock::now();
    return deadline <= now ? duration::zero() : saturate(deadline - now, rounding::up);
}

} // namespace detail

template <typename Rep, typename Period>
constexpr lease_time::lease_time(std::chrono::duration<Rep, Period> length)
    : value{detail::saturate(length, detail::rounding::down)} {}

} // namespace holdfast
