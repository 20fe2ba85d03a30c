// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote_clock.hpp"

#include <cmath>
#include <random>
#include <utility>

#include <gtest/gtest.h>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;
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
    /// What the server shows at that moment of our clock, if it goes on as now.
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
