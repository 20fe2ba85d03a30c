// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/poller.hpp"
#include "store/mysql/site.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// Inspector that shows the holds of a lock and ends them by force.
class row_inspector final : public inspector {
public:
    /// `at` and `polls` must outlive the inspector.
    row_inspector(site& at, poller& polls)
        : at_{at}
        , poller_{polls} {}

    asio::awaitable<std::optional<holding>> inspect(lock_name) override;
    asio::awaitable<forced> force_release(lock_name, std::string only_from) override;
    asio::awaitable<forced> force_kind(lock_name, lock_kind) override;
    asio::awaitable<std::uint64_t> last_token(lock_name) override;
    asio::awaitable<std::optional<lock_state>> describe(lock_name) override;
    asio::awaitable<lock_list> list(std::string pattern, std::size_t limit) override;
    asio::awaitable<std::unique_ptr<watch>> listen(lock_name, alarm& wake) override;

private:
    asio::awaitable<std::vector<lock_state>> states_of(std::vector<std::string> names);
    asio::awaitable<forced> force(lock_name, std::string only_from, std::optional<lock_kind> kind);

    site& at_;
    poller& poller_;
};

} // namespace holdfast::mysql
