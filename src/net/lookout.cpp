// SPDX-License-Identifier: Apache-2.0
#include "net/lookout.hpp"

#include "runtime/background.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::net {

lookout::lookout(const store_context& home, std::function<time_point()> next,
                 std::function<void(time_point now)> reached)
    : home_{home}
    , next_{std::move(next)}
    , reached_{std::move(reached)}
    , alarm_{home_.time.make_alarm()} {}

void lookout::watch_for(time_point limit, std::shared_ptr<void> keep) {
    if (closed_)
        return;
    if (!std::exchange(watching_, true))
        runtime::run_in_background(home_, watch(std::move(keep)));
    else if (limit < asleep_until_)
        alarm_->ring();
}

asio::awaitable<void> lookout::watch(std::shared_ptr<void>) {
    asleep_until_ = time_point::min(); // the loop then reads all deadlines anyway
    // Do not start inside the caller's call, because the caller has not yet stored the deadline.
    co_await asio::post(home_.executor, asio::use_awaitable);
    time_point seen_to = time_point::min();
    while (!closed_) {
        const time_point limit = next_();
        if (limit == time_point::max())
            break;
        asleep_until_ = std::max(limit, seen_to);
        co_await alarm_->wait_until(asleep_until_);
        if (closed_)
            break;
        const time_point now = home_.time.now();
        reached_(now);
        seen_to = now + duration{1}; // a connection that was cut needs time to notice the cut
    }
    watching_ = false;
}

void lookout::close() {
    closed_ = true;
    alarm_->ring();
}

} // namespace holdfast::net
