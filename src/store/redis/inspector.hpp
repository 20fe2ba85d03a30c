// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"

#include <holdfast/store.hpp>

namespace holdfast::redis {

/// Sees and ends any hold that Redisson or holdfast put on a lock.
class lock_inspector final : public inspector {
public:
    /// `server` must outlive it.
    explicit lock_inspector(node& server)
        : server_{server} {}

    asio::awaitable<std::optional<holding>> inspect(lock_name) override;
    asio::awaitable<bool> force_release(lock_name) override;

private:
    node& server_;
};

} // namespace holdfast::redis
