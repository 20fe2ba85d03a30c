// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/node.hpp"
#include "store/redis/denials.hpp"
#include "store/redis/request_slots.hpp"

#include <holdfast/counters.hpp>

#include <memory>
#include <optional>
#include <string>

namespace holdfast::redis {

/// Counter store on Redis: semaphores, latches and rate limiters, on Redisson's keys. Additional
/// keys record which requests of this client were carried out (docs/protocol/requests.md).
class redis_counters final : public counter_store {
public:
    /// Both arguments must outlive this object and all objects that it makes.
    redis_counters(node& server, const store_context& context)
        : server_{server}
        , context_{context}
        , denials_{server, context}
        , slots_{context.time} {}

    bool offers(counter_kind) const noexcept override { return true; }
    std::optional<std::string> objection_to(const lock_name& name, counter_kind) const override;
    std::unique_ptr<place> line_up(counter_ask, alarm& wake) override;
    asio::awaitable<counter_answer> change(counter_change) override;
    void end_change(const lock_name&, const owner_id& request) noexcept override;
    asio::awaitable<counter_list> list(counter_kind, std::string pattern,
                                       std::size_t limit) override;
    asio::awaitable<counter_state> inspect(lock_name, counter_kind) override;
    duration memory() const noexcept override { return context_.request_memory; }

private:
    asio::awaitable<counter_answer> change_in_time(const counter_change&, request_slot);

    node& server_;
    const store_context& context_;
    denials denials_;
    request_slots slots_;
};

} // namespace holdfast::redis
