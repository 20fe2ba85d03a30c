// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"
#include "store/zookeeper/line.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <optional>
#include <string>

namespace holdfast::zookeeper {

/// Inspector that shows the holds of a lock and ends them by force. The holds may be Curator's,
/// kazoo's or holdfast's.
class lock_inspector final : public inspector {
public:
    explicit lock_inspector(std::shared_ptr<household> home)
        : home_{std::move(home)} {}

    asio::awaitable<std::optional<holding>> inspect(lock_name) override;
    asio::awaitable<forced> force_release(lock_name, std::string only_from) override;
    asio::awaitable<std::uint64_t> last_token(lock_name) override;
    asio::awaitable<forced> force_kind(lock_name, lock_kind) override;
    asio::awaitable<std::optional<lock_state>> describe(lock_name) override;
    asio::awaitable<lock_list> list(std::string pattern, std::size_t limit) override;
    asio::awaitable<std::unique_ptr<watch>> listen(lock_name, alarm& wake) override;

private:
    asio::awaitable<forced> end(line, std::string only_from);
    asio::awaitable<std::optional<lock_state>> describe_at(std::string path, std::string name);

    const std::shared_ptr<household> home_;
};

} // namespace holdfast::zookeeper
