// SPDX-License-Identifier: Apache-2.0
#include "runtime/real_clock.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

struct RealClock : testing::Test {
    asio::io_context io;
    std::unique_ptr<real_clock> clock = std::make_unique<real_clock>(io.get_executor());
    std::unique_ptr<alarm> bell = clock->make_alarm();
    time_point start = clock->now();

    void spawn(asio::awaitable<void> story) {
        asio::co_spawn(io, std::move(story), asio::detached);
    }

    asio::awaitable<void> sleep_until(time_point when, std::vector<int>& order, int who) {
        const auto own = clock->make_alarm();
        co_await own->wait_until(when);
        EXPECT_GE(clock->now(), when);
        order.push_back(who);
    }
    asio::awaitable<void> wait_for_bell(time_point when, int& woken) {
        co_await bell->wait_until(when);
        ++woken;
    }
};

TEST_F(RealClock, SleepersWakeInOrderOfTheirTimesAndNotBefore) {
    std::vector<int> order;
    spawn(sleep_until(start + 9ms, order, 3));
    spawn(sleep_until(start + 3ms, order, 1));
    spawn(sleep_until(start + 6ms, order, 2));
    io.run();
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST_F(RealClock, WhoComesLaterMayWakeEarlier) {
    std::vector<int> order;
    spawn(sleep_until(start + 12ms, order, 2));
    auto later = [&]() -> asio::awaitable<void> {
        co_await sleep_until(start + 2ms, order, 0);
        co_await sleep_until(start + 5ms, order, 1);
    };
    spawn(later());
    io.run();
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

TEST_F(RealClock, AMomentThatIsOverTakesNoTime) {
    int woken = 0;
    spawn(wait_for_bell(start, woken));
    io.poll();
    EXPECT_EQ(woken, 1);
}

TEST_F(RealClock, ARingEndsASleepForEver) {
    int woken = 0;
    spawn(wait_for_bell(time_point::max(), woken));
    asio::post(io, [&] { bell->ring(); });
    io.run();
    EXPECT_EQ(woken, 1);
}

TEST_F(RealClock, ARingThatNobodyWaitedForIsKeptOnce) {
    int woken = 0;
    bell->ring();
    bell->ring();
    auto twice = [&]() -> asio::awaitable<void> {
        co_await wait_for_bell(time_point::max(), woken);
        co_await wait_for_bell(time_point::max(), woken);
    };
    spawn(twice());
    io.poll();
    EXPECT_EQ(woken, 1);
    bell->ring();
    io.run();
    EXPECT_EQ(woken, 2);
}

TEST_F(RealClock, ASleepThatWasCutShortLeavesTheExecutorWithoutWork) {
    int woken = 0;
    for (int i = 0; i < 3; ++i) {
        spawn(wait_for_bell(start + 1h, woken));
        asio::post(io, [&] { bell->ring(); });
        io.run(); // returns: that is the test
        io.restart();
    }
    EXPECT_EQ(woken, 3);
}

TEST_F(RealClock, ATimerSetForWhoLeftDoesNotWakeAnybodyEarly) {
    int woken = 0;
    auto story = [&]() -> asio::awaitable<void> {
        bell->ring();
        co_await wait_for_bell(start + 2ms, woken); // at once
        auto ring = [this] { bell->ring(); };
        asio::post(io, ring);
        co_await wait_for_bell(start + 3ms, woken); // sets the timer, and leaves early
        const time_point end = clock->now() + 8ms;
        co_await wait_for_bell(end, woken);
        EXPECT_GE(clock->now(), end);
    };
    spawn(story());
    io.run();
    EXPECT_EQ(woken, 3);
}

TEST_F(RealClock, StopWakesEverySleeperOnceAndTheClockGoesOn) {
    int woken = 0;
    const auto other = clock->make_alarm();
    auto forever = [&]() -> asio::awaitable<void> {
        co_await other->wait_until(time_point::max());
        ++woken;
        co_await other->wait_until(clock->now() + 2ms);
        ++woken;
    };
    spawn(wait_for_bell(start + 1h, woken));
    spawn(forever());
    asio::post(io, [&] { clock->stop(); });
    io.run();
    EXPECT_EQ(woken, 3);
}

TEST_F(RealClock, TheWaiterGoesOnWhereItsExecutorIs) {
    const auto strand = asio::make_strand(io);
    real_clock own{strand};
    const auto nap = own.make_alarm();
    bool at_home = false;
    auto story = [&]() -> asio::awaitable<void> {
        co_await nap->wait_until(own.now() + 2ms);
        at_home = strand.running_in_this_thread();
    };
    asio::co_spawn(strand, story(), asio::detached);
    std::jthread helper{[this] { io.run(); }};
    io.run();
    helper.join();
    EXPECT_TRUE(at_home);
}

TEST_F(RealClock, ManySleepersOnAStrandOfSeveralThreads) {
    const auto strand = asio::make_strand(io);
    real_clock own{strand};
    int woken = 0;
    auto sleeper = [&](int i) -> asio::awaitable<void> {
        const auto nap = own.make_alarm();
        for (int round = 0; round < 3; ++round)
            co_await nap->wait_until(own.now() + duration{i % 5});
        ++woken;
    };
    for (int i = 0; i < 500; ++i)
        asio::co_spawn(strand, sleeper(i), asio::detached);
    std::jthread helper{[this] { io.run(); }};
    io.run();
    helper.join();
    EXPECT_EQ(woken, 500);
}

TEST_F(RealClock, TheClockMayDieBeforeItsSleepersAndAlarms) {
    int woken = 0;
    auto owner_of_an_alarm = [&]() -> asio::awaitable<void> {
        const auto own = clock->make_alarm();
        co_await own->wait_until(start + 1h);
        ++woken;
    };
    spawn(owner_of_an_alarm());
    spawn(wait_for_bell(time_point::max(), woken));
    io.poll();
    clock.reset();
    io.run(); // returns: nothing of it is left
    EXPECT_EQ(woken, 0);
}

TEST_F(RealClock, AnAlarmMayDieWhileTheTimerIsSetForIt) {
    int woken = 0;
    spawn(wait_for_bell(start + 2ms, woken));
    io.poll_one();
    bell.reset();
    io.run();
    EXPECT_EQ(woken, 0);
}

TEST(BootClock, NeverGoesBack) {
    time_point last = boot_clock::now();
    EXPECT_GT(last.time_since_epoch(), 0ms);
    for (int i = 0; i < 1'000; ++i) {
        const time_point next = boot_clock::now();
        EXPECT_GE(next, last);
        last = next;
    }
}

} // namespace
} // namespace holdfast::runtime
