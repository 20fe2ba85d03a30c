// SPDX-License-Identifier: Apache-2.0
// A memory server with a replica, and Carol, whose way to it a test can see.
#pragma once

#include "memory_world.hpp"
#include "store/memory/replicas.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::memory {

struct MemoryReplicas : MemoryWorld {
    struct told_event {
        event_kind kind;
        std::string name, text;
    };

    void SetUp() override { there.replicate(1, 5ms); }

    std::optional<duration> notice{0ms}; ///< of the next announcement
    std::vector<told_event> told;
    int doubts = 0;
    std::size_t last_sent_to = 99;
    std::unique_ptr<store> carols =
        there.connect(way{.faults =
                              [this](const request& r) {
                                  last_sent_to = r.to;
                                  return next_fate();
                              },
                          .command_timeout = 3s,
                          .notices = [this] { return notice; }})(store_context{
            .executor = io.get_executor(),
            .time = clock,
            .random = [] { return std::uint64_t{0}; },
            .client = {'c'},
            .label = {},
            .poll_bound = 5s,
            .tell =
                [this](const event& e) {
                    told.push_back({e.kind, {e.name, e.name_size}, {e.text, e.text_size}});
                },
            .revalidate = [this](const auto&, bool urgent) { doubts += urgent ? 1 : 100; }});
    const std::unique_ptr<alarm> wake = clock.make_alarm();
    std::uint64_t number = 0;

    /// Carol's, with a number of its own.
    ask wants(unsigned replicas, duration lease = 30s) {
        ask want{"stock", owner_id{{'c'}, ++number}, lock_kind::plain};
        want.lease_time = lease;
        want.give_up_at = time_point::max();
        want.replicas = static_cast<std::uint8_t>(replicas);
        return want;
    }
    std::unique_ptr<place> line_up(unsigned replicas, duration lease = 30s) {
        return carols->locks().line_up(wants(replicas, lease), *wake);
    }
    asio::awaitable<error_code> renew(hold held, unsigned replicas, duration length = 30s) {
        held.replicas = static_cast<std::uint8_t>(replicas);
        const hold* const one[] = {&held};
        const renewal_options how{.lease_time = length};
        single_renewal outcome;
        co_await carols->locks().renew(one, how, outcome);
        error_code failed;
        try {
            EXPECT_TRUE(outcome.said().granted);
        } catch (const boost::system::system_error& e) {
            failed = e.code();
        }
        co_return failed;
    }
    asio::awaitable<counter_answer> add_seats(std::uint64_t request) {
        counter_change add{"seats", owner_id{{'c'}, request}, counter_kind::semaphore,
                           counter_verb::add, 3};
        add.replicas = 1;
        return carols->counters()->change(std::move(add));
    }
    std::unique_ptr<place> line_up_for_seats(unsigned replicas) {
        counter_ask want{"seats", owner_id{{'c'}, ++number}, counter_kind::semaphore, 2};
        want.replicas = static_cast<std::uint8_t>(replicas);
        return carols->counters()->line_up(std::move(want), *wake);
    }
    hold last() const { return {"stock", owner_id{{'c'}, number}, lock_kind::plain}; }
};

using story = asio::awaitable<void>;

} // namespace holdfast::memory
