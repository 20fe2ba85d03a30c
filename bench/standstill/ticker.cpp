// SPDX-License-Identifier: Apache-2.0
#include "bench/standstill/ticker.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

} // namespace

ticker::ticker(boost::asio::io_context& io)
    : timer_{io} {
    boost::asio::post(io, [this] { wait(); });
}

void ticker::stop() {
    is_over_ = true;
    timer_.cancel();
}

void ticker::wait() {
    timer_.expires_after(1ms);
    timer_.async_wait([this](const boost::system::error_code&) {
        if (is_over_)
            return;
        be_called();
        wait();
    });
}

void ticker::be_called() {
    const nanoseconds late = stopwatch::now() - timer_.expiry();
    const double without_core = thread_seconds_without_core();
    const double kept = 1e9 * (without_core - std::exchange(without_core_, without_core));
    const nanoseconds::rep ours = late.count() - static_cast<nanoseconds::rep>(kept);
    nanoseconds::rep before = latest_;
    while (before < ours && !latest_.compare_exchange_weak(before, ours)) {
    }
}

} // namespace holdfast::bench
