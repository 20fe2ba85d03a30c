// SPDX-License-Identifier: Apache-2.0
// How an acquisition waits for a lock that somebody else holds, and how it stops.
#include "unit/sync/stage.hpp"

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

class Waiting : public on_stage {
protected:
    actor& alice = enter({.poll_bound = 5s});
    mutex stock{alice, "stock"};
    said<lease> held;
    said<std::optional<lease>> tried;

    bool refused_in_time() const { return tried.well() && !tried.value(); }
};

TEST_F(Waiting, AFreeLockCostsOneRequest) {
    stock.async_lock(held.handler());
    settle();
    EXPECT_TRUE(held.well());
    EXPECT_EQ(alice.log.size(), 1u);
    EXPECT_EQ(alice.count(verb::look), 1u);
}

TEST_F(Waiting, WithoutPatienceABusyLockIsAskedForOnceAndNothingIsListenedTo) {
    server.occupy("stock", 1h);
    stock.async_try_lock(tried.handler());
    settle();
    EXPECT_TRUE(refused_in_time());
    EXPECT_EQ(alice.count(verb::look), 1u);
    EXPECT_EQ(alice.log.size(), 1u);
    EXPECT_EQ(server.listener_count(), 0u);
}

TEST_F(Waiting, ANegativePatienceIsOneAttempt) {
    server.occupy("stock", 1h);
    stock.async_try_lock_for(-1h, tried.handler());
    settle();
    EXPECT_TRUE(refused_in_time());
    EXPECT_EQ(alice.count(verb::look), 1u);
}

TEST_F(Waiting, ANegativePatienceTakesAFreeLock) {
    stock.async_try_lock_for(duration::min(), tried.handler());
    settle();
    ASSERT_TRUE(tried.well());
    EXPECT_TRUE(tried.value());
}

TEST_F(Waiting, ItEndsExactlyWhenItsPatienceDoes) {
    server.occupy("stock", 1h);
    stock.async_try_lock_for(500ms, tried.handler());
    run_for(499ms);
    EXPECT_FALSE(tried.done());
    EXPECT_EQ(server.listener_count(), 1u);
    run_for(1ms);
    EXPECT_TRUE(refused_in_time());
    EXPECT_EQ(server.listener_count(), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Waiting, APatienceIsRoundedUpToWholeMilliseconds) {
    server.occupy("stock", 1h);
    stock.async_try_lock_for(std::chrono::microseconds{1}, tried.handler());
    settle();
    EXPECT_FALSE(tried.done());
    run_for(1ms);
    EXPECT_TRUE(refused_in_time());
}

TEST_F(Waiting, ItListensAfterTheFirstRefusalAndAsksAgainBeforeItSleeps) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    settle();
    EXPECT_EQ(alice.count(verb::look), 2u);
    EXPECT_EQ(server.listener_count(), 1u);
    server.vacate("stock");
    settle();
    EXPECT_TRUE(held.well());
}

TEST_F(Waiting, AReleaseWakesItAtOnce) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    run_for(1s);
    EXPECT_EQ(alice.count(verb::look), 2u) << "it asks while it should sleep";
    server.vacate("stock");
    settle();
    EXPECT_TRUE(held.well());
    EXPECT_EQ(alice.count(verb::look), 3u);
}

TEST_F(Waiting, AReleaseBetweenLookAndListeningIsNotMissed) {
    server.occupy("stock", 1h);
    alice.always.request_delay = 10ms;
    alice.always.answer_delay = 10ms;
    stock.async_lock(held.handler());
    run_for(15ms); // refused, and the answer is on its way
    server.vacate("stock");
    run_for(25ms);
    EXPECT_TRUE(held.well());
}

TEST_F(Waiting, ADeadHoldersLeaseEndsItWithoutAnyWakeUp) {
    server.occupy("stock", 2s);
    stock.async_lock(held.handler());
    run_for(2s - 1ms);
    EXPECT_FALSE(held.done());
    run_for(5ms);
    EXPECT_TRUE(held.well());
    EXPECT_LE(alice.count(verb::look), 4u);
}

TEST_F(Waiting, ALostWakeUpCostsAtMostThePollBound) {
    server.occupy("stock", 1h);
    alice.planned.emplace_back(verb::look, fate{.wake_up_lost = true});
    stock.async_lock(held.handler());
    run_for(1s);
    server.vacate("stock");
    run_for(5s - 1s - 1ms);
    EXPECT_FALSE(held.done());
    run_for(1ms);
    EXPECT_TRUE(held.well());
}

TEST_F(Waiting, PollsAreSpreadOverAFifthOfTheBound) {
    server.occupy("stock", 1h);
    alice.dice = 1'000; // of the 1001 milliseconds that may be taken off
    stock.async_lock(held.handler());
    run_for(20s);
    EXPECT_EQ(alice.count(verb::look), 2u + 20 / 4);
    server.vacate("stock");
}

TEST_F(Waiting, ALockThatComesFreeShortlyBeforeTheEndIsTaken) {
    server.occupy("stock", 1h);
    stock.async_try_lock_for(500ms, tried.handler());
    run_for(480ms); // the later, the less exactly the server's clock is known: by a hundredth
    server.vacate("stock");
    settle();
    ASSERT_TRUE(tried.well());
    EXPECT_TRUE(tried.value());
}

TEST_F(Waiting, NothingIsGrantedAfterGivingUp) {
    server.occupy("stock", 1h);
    stock.async_try_lock_for(500ms, tried.handler());
    run_for(450ms);
    alice.always.request_delay = 100ms; // executed at 550 ms
    server.vacate("stock");
    run_for(1h);
    ASSERT_TRUE(refused_in_time());
    EXPECT_FALSE(server.inspect("stock"));
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Waiting, ForEverMeansForEver) {
    server.occupy("stock", 24h * 365);
    stock.async_try_lock_for(duration::max(), tried.handler());
    said<std::optional<lease>> by_deadline;
    stock.async_try_lock_until(std::chrono::system_clock::time_point::max(), by_deadline.handler());
    run_for(12h);
    EXPECT_FALSE(tried.done());
    EXPECT_FALSE(by_deadline.done());
    server.vacate("stock");
    settle();
    ASSERT_TRUE(tried.well());
    tried.take().reset();
    settle();
    EXPECT_TRUE(by_deadline.well());
}

TEST_F(Waiting, ADeadlineInThePastIsOneAttempt) {
    server.occupy("stock", 1h);
    stock.async_try_lock_until(std::chrono::steady_clock::now() - 1h, tried.handler());
    settle();
    EXPECT_TRUE(refused_in_time());
}

TEST_F(Waiting, MoreCallsThanAllowedFailAndSayWhichBoundItIs) {
    actor& bob = enter({.waiters_max = 2});
    mutex his{bob, "stock"};
    server.occupy("stock", 1h);
    said<lease> first, second, third, fourth;
    his.async_lock(first.handler());
    his.async_lock(second.handler());
    his.async_lock(third.handler());
    settle();
    EXPECT_TRUE(third.failed(errc::overloaded));
    const auto told = bob.ear->last(event_kind::waited);
    ASSERT_TRUE(told);
    EXPECT_THAT(told->text, testing::HasSubstr("waiters_max = 2"));

    server.vacate("stock");
    settle();
    ASSERT_TRUE(first.well());
    his.async_lock(fourth.handler()); // there is room again
    (void)first.take();
    settle();
    EXPECT_TRUE(second.well());
    (void)second.take();
    settle();
    EXPECT_TRUE(fourth.well());
}

TEST_F(Waiting, WhoOnlyWaitsToSeeItFreeIsOneOfThem) {
    actor& bob = enter({.waiters_max = 1});
    server.occupy("stock", 1h);
    said<bool> first, second, third;
    bob.program->async_wait_free("stock", 1min, first.handler());
    bob.program->async_wait_free("stock", 1min, second.handler());
    settle();
    EXPECT_TRUE(second.failed(errc::overloaded));
    run_for(1min);
    EXPECT_TRUE(first.well() && !first.value());
    bob.program->async_wait_free("stock", 1min, third.handler()); // there is room again
    server.vacate("stock");
    settle();
    EXPECT_TRUE(third.well() && third.value());
    EXPECT_FALSE(bob.ear->last(event_kind::waited)) << "it was no attempt to take it";
}

TEST_F(Waiting, TheHoldIsSeenByTheStoreUnderItsOwnersName) {
    const lease mine = taken(stock);
    const std::optional<holding> seen = server.inspect("stock");
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->owners, std::vector{mine.owner()});
    EXPECT_EQ(mine.owner().substr(0, 36), alice.program->id());
    EXPECT_EQ(seen->remaining, 30s);
    EXPECT_EQ(mine.name(), "stock");
}

TEST_F(Waiting, NoTwoHoldsOfAClientHaveTheSameNumber) {
    mutex shelf{alice, "shelf"};
    std::vector<std::string> owners;
    for (int i = 0; i < 50; ++i) {
        lease one = taken(stock), other = taken(shelf);
        owners.push_back(one.owner());
        owners.push_back(other.owner());
        one.async_unlock(said{}.handler());
        other.async_unlock(said{}.handler());
        settle();
    }
    std::sort(owners.begin(), owners.end());
    EXPECT_EQ(std::unique(owners.begin(), owners.end()), owners.end());
}

} // namespace
} // namespace holdfast::sync
