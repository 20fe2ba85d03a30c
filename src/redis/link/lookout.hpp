// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/talker.hpp"
#include "redis/node_context.hpp"

namespace holdfast::redis {

/// Tells a talker when one of its limits is reached. One alarm for all of them: each request has
/// the same time, so whoever asks next has to be watched only after all who asked before.
class lookout {
public:
    lookout(const node_context&, talker&);
    lookout(const lookout&) = delete;

    /// A limit has come to those there were.
    void watch_for(time_point limit);

    void close();

private:
    asio::awaitable<void> watch(std::shared_ptr<void> keep);

    const store_context& home_;
    talker& talker_;
    const std::unique_ptr<alarm> alarm_;
    time_point asleep_until_{};
    bool watching_ = false;
    bool closed_ = false;
};

} // namespace holdfast::redis
