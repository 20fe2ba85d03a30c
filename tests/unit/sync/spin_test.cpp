// SPDX-License-Identifier: Apache-2.0
// Who waits for a spin lock polls, and listens to nobody.
#include "unit/sync/stage.hpp"

#include <holdfast/spin_mutex.hpp>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

class Spin : public on_stage {
protected:
    /// When `who` looked, in ms after `from`.
    static std::vector<std::int64_t> looks(const actor& who, time_point from) {
        std::vector<std::int64_t> moments;
        for (const sent& each : who.all(verb::look))
            moments.push_back((each.at - from).count());
        return moments;
    }
};

TEST_F(Spin, PausesDoubleUpToTheLongest) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {2ms, 20ms}}};
    const lease held = taken(hers);
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(75ms);
    EXPECT_EQ(looks(bob, start()), (std::vector<std::int64_t>{0, 2, 6, 14, 30, 50, 70}));
    EXPECT_EQ(server.listener_count(), 0u);
}

TEST_F(Spin, PausesMayBeLongerThanThePollBound) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {20s, 1min}}};
    const lease held = taken(hers, lease_time{1h});
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(61s);
    EXPECT_EQ(looks(bob, start()), (std::vector<std::int64_t>{0, 20'000, 60'000}));
}

TEST_F(Spin, PausesAreJittered) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {100ms, 100ms}}};
    const lease held = taken(hers);
    bob.dice = 30; // of 0 to 50 ms
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(150ms);
    EXPECT_EQ(looks(bob, start()), (std::vector<std::int64_t>{0, 70, 140}));
}

TEST_F(Spin, AReleaseIsSeenByTheNextPoll) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {10ms, 10ms}}};
    lease held = taken(hers);
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(15ms);
    held.async_unlock(said{}.handler());
    run_for(4ms);
    EXPECT_FALSE(waiting.done()) << "nobody tells";
    run_for(1ms);
    EXPECT_TRUE(waiting.well());
}

TEST_F(Spin, TheEndOfALeaseIsNotSleptThrough) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {1min, 1min}}};
    const lease held = taken(hers, lease_time{2s});
    said<lease> waiting;
    his.async_lock(waiting.handler());
    run_for(2s + 1ms);
    EXPECT_TRUE(waiting.well());
}

TEST_F(Spin, NobodyPollsPastItsPatience) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {40ms, 40ms}}};
    const lease held = taken(hers);
    said<std::optional<lease>> tried;
    his.async_try_lock_for(50ms, tried.handler());
    run_for(49ms);
    EXPECT_FALSE(tried.done());
    run_for(1ms);
    ASSERT_TRUE(tried.well());
    EXPECT_FALSE(tried.value());
    EXPECT_EQ(looks(bob, start()), (std::vector<std::int64_t>{0, 40}));
}

TEST_F(Spin, WaitersOfOneClientQueueAndOneOfThemPolls) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock", {.polls = {10ms, 10ms}}};
    lease held = taken(hers);
    said<lease> first, second;
    his.async_lock(first.handler());
    his.async_lock(second.handler());
    run_for(35ms);
    EXPECT_EQ(bob.count(verb::look), 4u);
    held.async_unlock(said{}.handler());
    run_for(5ms);
    ASSERT_TRUE(first.well());
    first.take().async_unlock(said{}.handler());
    settle();
    EXPECT_TRUE(second.well()) << "handed on";
}

TEST_F(Spin, WhoGaveUpPollsNoMore) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"};
    const lease held = taken(hers);
    {
        spin_mutex his{bob, "stock", {.polls = {10ms, 10ms}}};
        said<std::optional<lease>> tried;
        his.async_try_lock_for(5ms, tried.handler());
        run_for(5ms);
        EXPECT_TRUE(tried.done());
    }
    const std::size_t looks_so_far = bob.count(verb::look);
    run_for(1s);
    EXPECT_EQ(bob.count(verb::look), looks_so_far);
    EXPECT_TRUE(is_idle(bob));
}

TEST_F(Spin, ASpinLockExcludesAPlainOneOfItsName) {
    actor &alice = enter(), &bob = enter();
    spin_mutex spin{alice, "stock"};
    mutex plain{bob, "stock"};
    const lease held = taken(spin);
    said<std::optional<lease>> tried;
    plain.async_try_lock(tried.handler());
    settle();
    EXPECT_FALSE(tried.value());
}

TEST_F(Spin, PausesThatCannotBeAreRefused) {
    actor& alice = enter();
    const auto refusal = [&alice](backoff polls) -> std::string {
        try {
            const spin_mutex lock{alice, "stock", {.polls = polls}};
            return {};
        } catch (const boost::system::system_error& why) {
            EXPECT_EQ(why.code(), errc::invalid_argument);
            return why.what();
        }
    };
    EXPECT_THAT(refusal({0ms, 10ms}),
                testing::HasSubstr("polls.first is 0 ms; allowed are 1 ms to 10 ms"));
    EXPECT_THAT(refusal({20ms, 10ms}), testing::HasSubstr("polls.first is 20 ms"));
    EXPECT_THAT(refusal({1ms, 61s}), testing::HasSubstr("polls.longest is 61000 ms"));
    EXPECT_EQ(refusal({1min, 1min}), "");
}

} // namespace
} // namespace holdfast::sync
