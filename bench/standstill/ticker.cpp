// SPDX-License-Identifier: Apache-2.0
#include "bench/standstill/ticker.hpp"

#include <boost/asio/post.hpp>

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
        const nanoseconds late = stopwatch::now() - timer_.expiry();
        nanoseconds::rep before = latest_;
        while (before < late.count() && !latest_.compare_exchange_weak(before, late.count())) {
        }
        wait();
    });
}

} // namespace holdfast::bench
