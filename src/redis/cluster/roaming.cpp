// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/roaming.hpp"

#include "net/later.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

roaming::roaming(channel_name where, alarm& rung, linger how)
    : channel{std::move(where)}
    , wake{rung}
    , afterwards{how}
    , slot{key_slot(channel.text)} {}

asio::awaitable<bool> roaming::confirmed(time_point limit) {
    bool sure = false;
    for (const hearing* asked = nullptr; here_ && here_.get() != asked;) {
        asked = here_.get();
        is_awaited_ = true;
        sure = co_await here_->confirmed(limit);
        is_awaited_ = false;
        left_.clear();
    }
    co_return sure;
}

void roaming::settle_at(std::weak_ptr<const void> server, std::unique_ptr<hearing> there) {
    at_ = std::move(server);
    if (is_awaited_ && here_)
        left_.push_back(std::move(here_));
    here_ = std::move(there);
}

bool roaming::may_move(time_point now) {
    if (now < not_before_)
        return false;
    const bool is_calm = net::later(not_before_, calm) <= now;
    pause_ = is_calm ? pause_min : std::min(2 * pause_, pause_max);
    not_before_ = net::later(now, pause_);
    return true;
}

} // namespace holdfast::redis
