// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/mysql/poller.hpp"
#include "store/mysql/site.hpp"

#include <holdfast/counters.hpp>

#include <memory>
#include <optional>
#include <string>

namespace holdfast::mysql {

/// Store of the latches, and of the totals of leased semaphores.
class mysql_counters final : public counter_store {
public:
    /// The arguments must outlive the store and all objects that the store makes.
    mysql_counters(site& at, poller& polls)
        : at_{at}
        , poller_{polls} {}

    bool offers(counter_kind kind) const noexcept override {
        return kind == counter_kind::latch || kind == counter_kind::permits;
    }
    std::optional<std::string> objection_to(const lock_name& name, counter_kind) const override;
    std::unique_ptr<place> line_up(counter_ask, alarm& wake) override;
    asio::awaitable<counter_answer> change(counter_change) override;
    asio::awaitable<counter_list> list(counter_kind, std::string pattern,
                                       std::size_t limit) override;
    asio::awaitable<counter_state> inspect(lock_name, counter_kind) override;
    duration memory() const noexcept override { return at_.context.request_memory; }

private:
    site& at_;
    poller& poller_;
};

} // namespace holdfast::mysql
