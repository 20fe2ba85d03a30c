// SPDX-License-Identifier: Apache-2.0
// The library's time, which a simulation can replace.
#pragma once

#include <holdfast/asio.hpp>
#include <holdfast/export.hpp>

#include <chrono>
#include <memory>

namespace holdfast {

/// CLOCK_BOOTTIME: it runs on while the machine is suspended, and never steps. It has no date.
struct HOLDFAST_EXPORT boot_clock {
    using duration = std::chrono::milliseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boot_clock, duration>;
    static constexpr bool is_steady = true;

    /// Rounded down to a whole millisecond. Thread-safe.
    static time_point now() noexcept;
};

/// Every length of time in the library: whole milliseconds.
using duration = boot_clock::duration;

/// A moment on the client's own clock; `time_point::max()` means never.
using time_point = boot_clock::time_point;

/// A sleep that can be ended early. The library sleeps in no other way on the executor.
/// Thread safety: one waiter at a time. Call everything on the executor of its client.
class alarm {
public:
    virtual ~alarm() = default;

    /// Returns at `when`, or as soon as the alarm rings. If nobody waits when it rings, the ring is
    /// kept and ends the next wait at once: a wake-up can come early, but it is never lost.
    virtual asio::awaitable<void> wait_until(time_point when) = 0;
    virtual void ring() noexcept = 0;
};

/// The source of time. Production uses CLOCK_BOOTTIME; a test may pass its own clock to `client`.
/// It must live until the client's `close()` has completed, and is not used after that. Its alarms
/// may be destroyed later than the clock: an alarm that nobody waits on must not use it.
class clock {
public:
    virtual ~clock() = default;
    virtual time_point now() const noexcept = 0; ///< thread-safe
    virtual std::unique_ptr<alarm> make_alarm() = 0;
};

/// How long a hold lasts if it is not renewed. It has a type of its own, so that it cannot be
/// mistaken for a patience. Rounded down to milliseconds; checked (1 ms to 10 years) before
/// anything is sent.
struct lease_time {
    template <typename Rep, typename Period>
    explicit constexpr lease_time(std::chrono::duration<Rep, Period> length);
    duration value;
};

namespace detail {

enum class rounding { up, down };

/// A length of time in whole milliseconds. A length outside the range becomes the end of the range
/// (so hours::max() means "for ever" and does not overflow), and NaN becomes zero.
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

/// The time that is left until `deadline`, by the deadline's own clock.
template <typename Clock, typename Duration>
duration patience_until(std::chrono::time_point<Clock, Duration> deadline) {
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
