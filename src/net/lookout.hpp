// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/store.hpp>

#include <functional>
#include <memory>

namespace holdfast::net {

/// Tells when the first of many limits is reached. One alarm for all of them: what is done in time
/// need not be told here.
class lookout {
public:
    /// `next`: the first limit there is now, never if there is none; `reached` is called then.
    lookout(const store_context&, std::function<time_point()> next,
            std::function<void(time_point now)> reached);
    lookout(const lookout&) = delete;

    /// A limit has come to those there were. `keep` lives until there are none.
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
