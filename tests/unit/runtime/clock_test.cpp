// SPDX-License-Identifier: Apache-2.0
#include "runtime/clock.hpp"
#include "runtime/remote_clock.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>

#include <cmath>
#include <random>
#include <thread>
#include <utility>
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
    bool all_slept = false; // on a busy machine, the times may be over before all sleep
    for (duration unit = 3ms; !all_slept; unit *= 2) {
        order.clear();
        const time_point begin = clock->now();
        spawn(sleep_until(begin + 3 * unit, order, 3));
        spawn(sleep_until(begin + unit, order, 1));
        spawn(sleep_until(begin + 2 * unit, order, 2));
        io.restart();
        io.poll();
        all_slept = clock->now() < begin + unit;
        io.restart();
        io.run();
    }
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST_F(RealClock, WhoComesLaterMayWakeEarlier) {
    std::vector<int> order;
    bool in_time = false; // on a busy machine, the time of the first may be over before
    for (duration unit = 3ms; !in_time; unit *= 2) {
        order.clear();
        const time_point begin = clock->now();
        spawn(sleep_until(begin + 4 * unit, order, 2));
        auto later = [&]() -> asio::awaitable<void> {
            co_await sleep_until(begin + unit, order, 0);
            co_await sleep_until(begin + 2 * unit, order, 1);
            in_time = clock->now() < begin + 4 * unit;
        };
        spawn(later());
        io.restart();
        io.run();
    }
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
    bool rung = false;
    auto story = [&]() -> asio::awaitable<void> {
        bell->ring();
        co_await wait_for_bell(start + 2ms, woken); // at once
        asio::post(io, [&] {
            rung = true;
            bell->ring();
        });
        co_await wait_for_bell(start + 3ms, woken); // sets the timer, and leaves early
        // On a slow machine the 3 ms are over before the wait begins, and nothing has rung yet.
        while (!rung)
            co_await asio::post(io, asio::use_awaitable);
        bell->ring();
        int emptied = 0;
        co_await wait_for_bell(time_point::max(), emptied);
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
    const int before = woken; // on a busy machine, the 2 ms may be over before
    bell.reset();
    io.run();
    EXPECT_EQ(woken, before);
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

using std::chrono::microseconds;

/// Two machines on one true time, counted in microseconds. Ours shows whole milliseconds.
struct machines {
    double now = 3.6e9;
    double server_at_now = 1.8e10;
    double server_rate = 1.0;

    void pass(microseconds length) {
        now += double(length.count());
        server_at_now += server_rate * double(length.count());
    }
    time_point ours() const { return time_point{duration{std::int64_t(now / 1000)}}; }
    microseconds server_shows() const { return microseconds{std::int64_t(server_at_now)}; }

    void ask(remote_clock& estimate, microseconds there, microseconds back) {
        const time_point sent_at = ours();
        pass(there);
        const microseconds shown = server_shows();
        pass(back);
        estimate.learn(sent_at, ours(), shown);
    }
    /// Returns the server's time at this time of the client's clock, if the server's clock keeps
    /// its present speed.
    microseconds server_at(time_point local) const {
        const double until = double(microseconds{local.time_since_epoch()}.count()) - now;
        return microseconds{std::llround(server_at_now + server_rate * until)};
    }
};

TEST(RemoteClock, KnowsNothingBeforeTheFirstAnswer) {
    remote_clock estimate;
    EXPECT_FALSE(estimate.known());
    EXPECT_FALSE(estimate.no_later_than(time_point{1h}));
}

TEST(RemoteClock, ForgetsWhenTold) {
    machines m;
    remote_clock estimate;
    m.ask(estimate, 0us, 0us);
    EXPECT_TRUE(estimate.known());
    estimate.forget();
    EXPECT_FALSE(estimate.known());
}

TEST(RemoteClock, ForEverIsNoMomentOverThere) {
    machines m;
    remote_clock estimate;
    m.ask(estimate, 0us, 0us);
    EXPECT_FALSE(estimate.no_later_than(time_point::max()));
    EXPECT_FALSE(estimate.no_later_than(time_point::max() - 1h));
    EXPECT_TRUE(estimate.no_later_than(m.ours() + 24h * 36525));
}

TEST(RemoteClock, IsOffByOneRoundTripAtMost) {
    machines m;
    remote_clock estimate;
    m.ask(estimate, 20ms, 5ms);
    const microseconds truth = m.server_at(m.ours());
    EXPECT_LE(*estimate.no_later_than(m.ours()), truth);
    EXPECT_GE(*estimate.no_later_than(m.ours()), truth - 26ms - 10us);
}

TEST(RemoteClock, AQuickAnswerImprovesOnASlowOne) {
    machines m;
    remote_clock estimate;
    m.ask(estimate, 400ms, 400ms);
    m.ask(estimate, 100us, 100us);
    m.ask(estimate, 400ms, 400ms);
    EXPECT_GE(*estimate.no_later_than(m.ours()), m.server_at(m.ours()) - 12ms);
}

TEST(RemoteClock, AsymmetricDelaysDoNotMakeItLate) {
    for (const auto& [there, back] : {std::pair{0us, 800'000us}, {800'000us, 0us}}) {
        machines m;
        remote_clock estimate;
        for (int i = 0; i < 5; ++i)
            m.ask(estimate, there, back);
        EXPECT_LE(*estimate.no_later_than(m.ours()), m.server_at(m.ours()));
    }
}

TEST(RemoteClock, BelievesTheNewTimeAfterAStep) {
    for (const microseconds step :
         {microseconds{-1h}, microseconds{1h}, microseconds{-2s}, microseconds{2s}}) {
        machines m;
        remote_clock estimate;
        m.ask(estimate, 300us, 300us);
        m.server_at_now += double(step.count());
        m.ask(estimate, 300us, 300us);
        EXPECT_LE(*estimate.no_later_than(m.ours()), m.server_at(m.ours()));
        EXPECT_GE(*estimate.no_later_than(m.ours()), m.server_at(m.ours()) - 3ms);
    }
}

TEST(RemoteClock, GrowsCautiousWithAge) {
    machines m;
    remote_clock estimate;
    m.ask(estimate, 0us, 0us);
    m.server_rate = 0.99;
    const time_point in_an_hour = m.ours() + 1h;
    EXPECT_LE(*estimate.no_later_than(in_an_hour), m.server_at(in_an_hour));
    EXPECT_GE(*estimate.no_later_than(in_an_hour), m.server_at(in_an_hour) - 2ms);
}

TEST(RemoteClock, SeesTheDriftBetweenAnswersThatFollowEachOtherClosely) {
    machines m;
    m.server_rate = 0.99;
    remote_clock estimate;
    m.ask(estimate, 50ms, 50ms); // leaves room for an error to hide in
    for (int i = 0; i < 20; ++i) {
        m.pass(90ms);
        m.ask(estimate, 100us, 5ms);
        EXPECT_LE(*estimate.no_later_than(m.ours()), m.server_at(m.ours())) << i;
    }
}

TEST(RemoteClock, IsNeverLateWhateverTheDelaysAndTheDriftWithinOnePercent) {
    for (unsigned seed = 0; seed < 2'000; ++seed) {
        std::mt19937 random{seed};
        const auto any = [&](microseconds most) {
            const auto shift = std::uniform_int_distribution<>{0, 20}(random);
            return microseconds{
                std::uniform_int_distribution<std::int64_t>{0, most.count()}(random) >> shift};
        };
        machines m;
        m.pass(any(1ms));
        remote_clock estimate;
        for (int i = 0; i < 40; ++i) {
            m.server_rate = std::uniform_real_distribution<>{0.99, 1.01}(random);
            m.ask(estimate, any(3s), any(3s));
            const time_point before = m.ours();
            const time_point later = before + 1ms + std::chrono::floor<duration>(any(60s));
            ASSERT_LE(*estimate.no_later_than(before), m.server_at(before)) << seed << ", " << i;
            ASSERT_LE(*estimate.no_later_than(later), m.server_at(later)) << seed << ", " << i;
            m.pass(any(10s));
        }
    }
}

} // namespace
} // namespace holdfast::runtime
