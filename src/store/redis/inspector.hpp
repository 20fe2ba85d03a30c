// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/kinds.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// Reads and ends holds of locks. The holds may come from Redisson or from holdfast.
class lock_inspector final : public inspector {
public:
    /// Both arguments must outlive this object.
    lock_inspector(node& server, const store_context& context)
        : server_{server}
        , context_{context} {}

    asio::awaitable<std::optional<holding>> inspect(lock_name) override;
    asio::awaitable<forced> force_release(lock_name, std::string only_from) override;
    asio::awaitable<std::uint64_t> last_token(lock_name) override;
    asio::awaitable<forced> force_kind(lock_name, lock_kind) override;
    asio::awaitable<std::optional<lock_state>> describe(lock_name) override;
    asio::awaitable<lock_list> list(std::string pattern, std::size_t limit) override;
    asio::awaitable<std::unique_ptr<watch>> listen(lock_name, alarm& wake) override;

private:
    /// Ends a lock. If `mode` is not empty, ends the lock only if its kind is `mode`.
    asio::awaitable<forced> force(lock_name, std::string only_from, std::string_view mode);
    asio::awaitable<attempt> force_by(server_deadline, const lock_name&,
                                      const std::string& only_from, std::string_view mode,
                                      forced& outcome);

    node& server_;
    const store_context& context_;
};

} // namespace holdfast::redis
