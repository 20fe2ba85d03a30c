// SPDX-License-Identifier: Apache-2.0
// Wishes on Redis. A wish asks the holders of a lock to release it soon. A wish is a key with a
// TTL, and a message on a separate channel notifies the holders (docs/protocol/wishes.md).
#pragma once

#include "redis/node.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

class redis_wishes final : public wish_store {
public:
    /// Both arguments must outlive this object.
    redis_wishes(node& server, const store_context& context)
        : server_{server}
        , context_{context} {}

    asio::awaitable<std::vector<std::string>> ask_holders(lock_name, wish, duration kept) override;
    asio::awaitable<std::optional<wish>> wish_for(hold) override;
    asio::awaitable<std::unique_ptr<watch>> hear_wishes(hold, alarm& wake) override;

private:
    node& server_;
    const store_context& context_;
};

} // namespace holdfast::redis
