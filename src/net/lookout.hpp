// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <functional>
#include <memory>

namespace holdfast::net {

/// Deadline timer for many requests: calls a function when the first deadline is reached. It uses
/// one alarm for all deadlines. A request that completes in time need not be removed.
class lookout {
public:
    /// `next` returns the first deadline, or `time_point::max()` if there is none. `reached` is
    /// called when that deadline is reached.
    lookout(const store_context&, std::function<time_point()> next,
            std::function<void(time_point now)> reached);
    lookout(const lookout&) = delete;

    /// Adds a deadline. Keeps `keep` alive until no deadlines are left.
    void watch_for(time_point limit, std::shared_ptr<void> keep);

    void close();

private:
    asio::awaitable<void> watch(std::shared_ptr<void> keep);

    const store_context& home_;
    const std::function<time_point()> next_;
    const std::function<void(time_point)> reached_;
    const std::unique_ptr<alarm> alarm_;
    time_point asleep_until_{};
    bool watching_ = false;
    bool closed_ = false;
};

} // namespace holdfast::net
