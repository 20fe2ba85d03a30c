// SPDX-License-Identifier: Apache-2.0
#include "cli/holder.hpp"

#include <holdfast/mutex.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <cstdio>
#include <utility>

namespace cli {

asio::awaitable<std::string> who_holds(holdfast::client& home, std::string name) {
    const holdfast::mutex lock{home, std::move(name)};
    const std::optional<holdfast::duration> left =
        co_await lock.async_remaining_lease(asio::use_awaitable);
    if (!left)
        co_return "";
    if (*left == holdfast::duration::max())
        co_return "held without end";
    char text[64];
    std::snprintf(text, sizeof text, "held on a lease with %.1f s left",
                  std::chrono::duration<double>{*left}.count());
    co_return text;
}

} // namespace cli
