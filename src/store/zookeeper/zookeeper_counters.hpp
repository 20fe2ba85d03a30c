// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/zookeeper/household.hpp"
#include "store/zookeeper/semaphore_paths.hpp"

#include <holdfast/counters.hpp>

#include <memory>
#include <optional>
#include <string>

namespace holdfast::zookeeper {

/// Store of the totals of leased semaphores. A total can be set only once: each Curator client has
/// its own copy, and nothing tells it about a change.
class zookeeper_counters final : public counter_store {
public:
    explicit zookeeper_counters(std::shared_ptr<household> home)
        : home_{std::move(home)} {}

    bool offers(counter_kind kind) const noexcept override { return kind == counter_kind::permits; }
    std::optional<std::string> objection_to(const lock_name& name, counter_kind) const override {
        return home_->where.objection_to(name);
    }
    std::unique_ptr<place> line_up(counter_ask, alarm& wake) override;
    asio::awaitable<counter_answer> change(counter_change) override;
    asio::awaitable<counter_state> inspect(lock_name, counter_kind) override;
    asio::awaitable<counter_list> list(counter_kind, std::string pattern,
                                       std::size_t limit) override;
    duration memory() const noexcept override { return home_->context.request_memory; }

private:
    asio::awaitable<counter_answer> set(counter_change, bool only_new);
    asio::awaitable<bool> make(const semaphore_paths&, std::string data);
    asio::awaitable<bool> give_back(const semaphore_paths&, std::string permit);
    asio::awaitable<bool> erase(const semaphore_paths&);
    asio::awaitable<counter_state> state_at(const semaphore_paths&);

    const std::shared_ptr<household> home_;
};

} // namespace holdfast::zookeeper
