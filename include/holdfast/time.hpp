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

    /// Returns the time, rounded down to a whole millisecond. Thread-safe.
    static time_point now() noexcept;
};

/// Length of time in whole milliseconds, used in the whole library.
using duration = boot_clock::duration;

/// A time on the client's own clock; `time_point::max()` means never.
using time_point = boot_clock::time_point;

/// Timer for one waiting coroutine; `ring()` ends the wait early. All sleeps of the library on the
/// executor use alarms. Thread safety: one waiter at a time. Call all functions on the client's
/// executor.
class alarm {
public:
    virtual ~alarm() = default;

    /// Returns at `when`, or as soon as the alarm rings (`ring()` is called). If nobody waits when
    /// the alarm rings, the ring is stored and ends the next wait at once. So a wake-up can come
    /// early, but it is never lost.
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

/// How long a lock is held if it is not renewed. This is a type of its own, so that a lease time
/// cannot be confused with a timeout. Rounded down to milliseconds. The range (1 ms to 10 years) is
/// checked before anything is sent.
struct lease_time {
    template <typename Rep, typename Period>
    explicit constexpr lease_time(std::chrono::duration<Rep, Period> length);
    duration value;
};

namespace detail {

enum class rounding { up, down };

/// Converts `length` to whole milliseconds. A length outside the range becomes the end of the
/// range, so hours::max() means "for ever" and does not overflow. NaN becomes zero.
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
