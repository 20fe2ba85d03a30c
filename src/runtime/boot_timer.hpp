// SPDX-License-Identifier: Apache-2.0
// A timer on CLOCK_BOOTTIME, built on timerfd. Asio has no timer for that clock.
#pragma once

#include <holdfast/time.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace holdfast::runtime {

/// Timer that calls `on_ring` on the executor.
///
/// Thread safety: call everything on the executor.
class boot_timer {
public:
    boot_timer(const asio::any_io_executor&, std::function<void()> on_ring);
    boot_timer(const boot_timer&) = delete;

    /// Makes the timer ring once, at the given time at the latest. It may also ring earlier, at a
    /// time that an earlier call requested. An unnecessary ring costs less than setting the timer
    /// for each sleeper.
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
    // Number of the last wait. A cancelled wait whose handler still runs has a smaller number.
    std::uint64_t listened_ = 0;
    const std::shared_ptr<void> alive_ = std::make_shared<char>();
};

} // namespace holdfast::runtime
