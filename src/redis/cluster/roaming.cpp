// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/roaming.hpp"

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

void roaming::settle_at(std::unique_ptr<hearing> there) {
    if (is_awaited_ && here_)
        left_.push_back(std::move(here_));
    here_ = std::move(there);
}

} // namespace holdfast::redis
