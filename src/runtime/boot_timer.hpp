// SPDX-License-Identifier: Apache-2.0
// One timerfd on CLOCK_BOOTTIME, which Asio has no timer for.
#pragma once

#include <holdfast/time.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace holdfast::runtime {

/// Thread safety: everything on the executor, `on_ring` too.
class boot_timer {
public:
    boot_timer(const asio::any_io_executor&, std::function<void()> on_ring);
    boot_timer(const boot_timer&) = delete;

    /// Rings once, by that moment at the latest. It may ring for a moment that was asked for
    /// earlier and matters no more: that costs less than setting the timer for each who comes and
    /// goes.
    void ring_by(time_point);

    /// Does not ring until asked again, and does not keep the executor busy.
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
    std::uint64_t listened_ = 0; // tells the wait that counts from one that was cancelled too late
    const std::shared_ptr<void> alive_ = std::make_shared<char>();
};

} // namespace holdfast::runtime
