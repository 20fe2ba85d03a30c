// SPDX-License-Identifier: Apache-2.0
// A memory server with or without a replica, and the connections of two clients, on one simulated
// clock.
#pragma once

#include "store/memory/replicas.hpp"
#include "store/memory/test_access.hpp"
#include "support/clocks.hpp"

#include <holdfast/error.hpp>
#include <holdfast/memory/server.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/system/system_error.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::memory {

// A memory server and two clients' ways to it, on one simulated clock.

using namespace std::chrono_literals;

/// One client without the library above it.
struct guest {
    guest(asio::io_context& io, clock& time, store_factory make, std::uint8_t identity)
        : home{make(store_context{.executor = io.get_executor(),
                                  .time = time,
                                  .random = [] { return std::uint64_t{0}; },
                                  .client = {identity},
                                  .label = {},
                                  .poll_bound = 5s,
                                  .tell = [](const event&) {}})}
        , wake{time.make_alarm()}
        , id{.client = {identity}, .number = 1} {}

    ask wants(std::string name, duration lease, time_point give_up_at = time_point::max()) {
        ask want{std::move(name), id, lock_kind::plain};
        want.lease_time = lease;
        want.give_up_at = give_up_at;
        return want;
    }
    std::unique_ptr<place> line_up(std::string name, duration lease = 30s,
                                   time_point give_up_at = time_point::max()) {
        return home->locks().line_up(wants(std::move(name), lease, give_up_at), *wake);
    }
    hold held(std::string name) const { return {std::move(name), id, lock_kind::plain}; }

    std::unique_ptr<store> home;
    std::unique_ptr<alarm> wake;
    owner_id id;
};

struct MemoryWorld : testing::Test {
    asio::io_context io;
    sim::sim_clock clock{io};
    server there{clock};
    std::deque<fate> fates; ///< of Alice's next requests; then nothing bad happens
    int requests = 0;       ///< that Alice has made
    guest alice{io, clock, there.connect([this](const request&) { return next_fate(); }), 'a'};
    guest bob{io, clock, there.connect(), 'b'};
    const time_point start = clock.now();

    fate next_fate() {
        ++requests;
        if (fates.empty())
            return {};
        const fate next = fates.front();
        fates.pop_front();
        return next;
    }

    duration passed() const { return clock.now() - start; }

    /// Runs a story to its end, and what it throws is thrown here.
    void play(asio::awaitable<void> story) {
        bool ended = false;
        asio::co_spawn(io, std::move(story), [&ended](const std::exception_ptr& e) {
            ended = true;
            if (e)
                std::rethrow_exception(e);
        });
        clock.run_until_idle();
        EXPECT_TRUE(ended);
    }
    asio::awaitable<void> sleep_for(duration length) {
        const auto nap = clock.make_alarm();
        co_await nap->wait_until(clock.now() + length);
    }

    /// Returns the error of a call, or no error.
    template <typename T>
    static asio::awaitable<error_code> failure_of(asio::awaitable<T> call) {
        try {
            (void)co_await std::move(call);
        } catch (const boost::system::system_error& e) {
            co_return e.code();
        }
        co_return error_code{};
    }
    static asio::awaitable<error_code> failure_of(asio::awaitable<void> call) {
        try {
            co_await std::move(call);
        } catch (const boost::system::system_error& e) {
            co_return e.code();
        }
        co_return error_code{};
    }
};

// A memory server with a replica, and Carol, whose way to it a test can see.

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
