// SPDX-License-Identifier: Apache-2.0
// A memory server and two clients' ways to it, on one simulated clock.
#pragma once

#include "store/memory/test_access.hpp"
#include "support/sim_clock.hpp"

#include <holdfast/error.hpp>
#include <holdfast/memory/server.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/system/system_error.hpp>

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::memory {

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

    /// What a call fails with, or no error.
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

} // namespace holdfast::memory
