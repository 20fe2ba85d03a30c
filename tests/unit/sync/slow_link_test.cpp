// SPDX-License-Identifier: Apache-2.0
// A network whose delay is a large part of the lease, and a server that refuses renewals.
#include "unit/sync/stage.hpp"

#include <tuple>

namespace holdfast::sync {
namespace {

/// The lease, and the time that an answer takes.
class SlowLink : public stage, public testing::TestWithParam<std::tuple<int, int>> {
protected:
    actor& alice = enter({}, 10s);
    const duration length{std::get<0>(GetParam())}, round_trip{std::get<1>(GetParam())};

    void slow_down() {
        alice.always = {.request_delay = round_trip / 2, .answer_delay = round_trip / 2};
    }
};

using LinkThatHasBecomeSlow = SlowLink;

TEST_P(LinkThatHasBecomeSlow, HoldThatWasTakenBeforeIsKept) {
    mutex lock{alice, "stock", lease_time{length}};
    const lease held = taken(lock);
    slow_down();
    run_for(length * 20);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(alice.ear->count(event_kind::lost), 0u);
}

TEST_P(SlowLink, RenewedHoldIsKept) {
    mutex lock{alice, "stock", lease_time{length}};
    const lease held = taken(lock);
    slow_down();
    run_for(length * 20);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(alice.ear->count(event_kind::lost), 0u);
    EXPECT_LE(alice.count(verb::renew), 300u) << "fifteen in a lease are a storm";
}

TEST_P(SlowLink, HoldThatIsTakenOverItIsKept) {
    mutex lock{alice, "stock", lease_time{length}};
    slow_down();
    said<lease> got;
    lock.async_lock(got.handler());
    run_for(round_trip);
    ASSERT_TRUE(got.well());
    run_for(length * 20);
    EXPECT_TRUE(got.value().owns_lock());
}

TEST_P(SlowLink, FixedHoldIsExtendedOverIt) {
    mutex lock{alice, "stock"};
    lease held = taken(lock, lease_time{length});
    slow_down();
    for (int i = 0; i < 5; ++i) {
        said<> extended;
        held.async_extend(lease_time{length}, extended.handler());
        run_for(round_trip);
        ASSERT_TRUE(extended.well()) << "extension " << i;
        EXPECT_EQ(held.remaining(), length - margin(length) - round_trip)
            << "it counts from when the request was sent";
    }
}

TEST_P(SlowLink, ExtensionWithoutAReplyIsRepeatedAfterLongerAndLongerWaits) {
    mutex lock{alice, "stock"};
    lease held = taken(lock, lease_time{length});
    alice.always.request_lost = true;
    held.async_extend(lease_time{1h}, said{}.handler());
    run_for(length);
    std::vector<time_point> asked_at;
    for (const sent& each : alice.all(verb::renew))
        if (each.lease_time == 1h)
            asked_at.push_back(each.at);
    ASSERT_GE(asked_at.size(), 2u);
    for (std::size_t i = 2; i < asked_at.size(); ++i)
        EXPECT_GT(asked_at[i] - asked_at[i - 1], asked_at[i - 1] - asked_at[i - 2]);
}

INSTANTIATE_TEST_SUITE_P(Each, SlowLink,
                         testing::Values(std::tuple{1'500, 500}, std::tuple{1'500, 700},
                                         std::tuple{3'000, 500}, std::tuple{3'000, 800},
                                         std::tuple{3'000, 1'400}, std::tuple{6'000, 800},
                                         std::tuple{6'000, 2'800}, std::tuple{12'000, 3'200},
                                         std::tuple{30'000, 9'000}));

/// A round trip of more than half of the lease. Each reply arrives while the hold is still valid,
/// but only after the time when the hold ended by the reply before it.
INSTANTIATE_TEST_SUITE_P(LongerThanHalfOfTheLease, LinkThatHasBecomeSlow,
                         testing::Values(std::tuple{1'500, 750}, std::tuple{1'500, 800},
                                         std::tuple{3'000, 1'650}, std::tuple{6'000, 3'300}));

class SlowAdoption : public on_stage {};

TEST_F(SlowAdoption, ReplyThatTakesLongerThanTheLeaseLeavesNoLockHeld) {
    actor& alice = enter({}, 10s);
    actor& bob = enter({}, 10s);
    mutex lock{alice, "stock"};
    lease held = taken(lock, lease_time{1h});
    said<ticket> made;
    held.async_detach(made.handler());
    run_for(1ms);
    ASSERT_TRUE(made.well());
    bob.always = {.answer_delay = 1'200ms};
    said<lease> adopted;
    bob.program->async_adopt(made.value(), lease_time{1s}, adopted.handler());
    run_for(3s);
    EXPECT_TRUE(adopted.failed(errc::lease_lost));
    EXPECT_EQ(bob.count(verb::release), 1u);
    (void)taken(lock);
}

class SlowAnswer : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s}, 10s);
    mutex stock{alice, "stock"};
};

TEST_F(SlowAnswer, LateAnswerCountsFromWhenItsRequestWasSent) {
    mutex lock{alice, "brief", lease_time{3s}};
    const lease held = taken(lock);
    alice.planned.emplace_back(verb::renew, fate{.answer_delay = 1900ms});
    alice.always.request_lost = true; // of all others
    run_for(1s + 1900ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(held.remaining(), 3s - 32ms - 1900ms);
}

TEST_F(SlowAnswer, AnswerAfterTheEndRevivesNothing) {
    mutex lock{alice, "brief", lease_time{3s}};
    const lease held = taken(lock);
    alice.always.answer_delay = 2500ms;
    run_for(3s);
    EXPECT_FALSE(held.owns_lock());
    run_for(3s);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(held.lost().stop_requested());
    alice.always = {};
    run_for(20s);
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(SlowAnswer, ExtensionIsAnsweredLate) {
    lease held = taken(stock, lease_time{2s});
    alice.always = {.request_delay = 700ms, .answer_delay = 700ms};
    said<> extended;
    held.async_extend(lease_time{1min}, extended.handler());
    run_for(1400ms);
    EXPECT_TRUE(extended.well());
    EXPECT_EQ(held.remaining(), 1min - 602ms - 1400ms);
}

TEST_F(SlowAnswer, ExtensionIsAskedForOverAnotherConnectionBesideTheFirst) {
    lease held = taken(stock, lease_time{3s});
    alice.planned.emplace_back(verb::renew, fate{.answer_delay = 2s});
    alice.always.request_lost = true; // of all others
    said<> extended;
    held.async_extend(lease_time{1min}, extended.handler());
    run_for(2s);
    EXPECT_TRUE(extended.well()) << "the first request was answered late";
    const auto is_elsewhere = [](const renewal_options& each) {
        return each.elsewhere && each.lease_time == 1min;
    };
    EXPECT_EQ(std::ranges::count_if(alice.meddling.wishes, is_elsewhere), 1);
}

TEST_F(SlowAnswer, LateGrantsEndAWaitOnlyIfNoReplyInTimeComesBetween) {
    mutex brief{alice, "brief", lease_time{1s}};
    actor& bob = enter({.lease_time = 30s}, 10s);
    mutex of_bob{bob, "brief"};
    const auto late = fate{.answer_delay = 1200ms};
    alice.always = late;
    said<lease> got;
    brief.async_lock(got.handler());
    run_for(2300ms); // two grants come too late, and end at the server
    lease others = taken(of_bob);
    alice.always = {};
    run_for(1s); // alice learns in time that the lock is busy
    alice.always = late;
    others.async_unlock(said{}.handler());
    run_for(1300ms); // the third grant comes too late
    EXPECT_FALSE(got.done());
    alice.always = {};
    run_for(2s);
    ASSERT_TRUE(got.well());
    EXPECT_TRUE(got.value().owns_lock());
}

TEST_F(SlowAnswer, ThreeLateGrantsInARowEndAWait) {
    mutex brief{alice, "brief", lease_time{1s}};
    alice.always = {.answer_delay = 1200ms};
    said<lease> got;
    brief.async_lock(got.handler());
    run_for(4s);
    EXPECT_EQ(got.code(), errc::unreachable);
}

class RefusedRenewal : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s}, 3s);
};

TEST_F(RefusedRenewal, IsRepeatedAfterAPauseThatGrows) {
    mutex stock{alice, "stock"};
    const lease held = taken(stock);
    alice.always = {.answer_delay = 1ms, .denied = true};
    run_for(30s);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_LE(alice.count(verb::renew), 60u);
    EXPECT_GE(alice.count(verb::renew), 5u);
    const std::vector<sent> all = alice.all(verb::renew);
    EXPECT_GE(all[1].at - all[0].at, 500ms);
    EXPECT_GT(all[2].at - all[1].at, all[1].at - all[0].at);
}

TEST_F(RefusedRenewal, OfManyHoldsIsNoStorm) {
    std::vector<lease> held;
    for (int i = 0; i < 20; ++i) {
        mutex each{alice, "lock" + std::to_string(i)};
        held.push_back(taken(each));
        run_for(100ms);
    }
    alice.always = {.answer_delay = 1ms, .denied = true};
    run_for(20s);
    EXPECT_LE(alice.count(verb::renew), 200u);
}

/// A handler blocks the executor. Then no event reports the loss, but the functions of the lease
/// do.
class BlockedExecutor : public on_stage {
protected:
    actor& alice = enter({.lease_time = 3s}, 1s);
    mutex stock{alice, "stock"};

    static bool fired(const std::stop_token& token) { return token.stop_requested(); }
};

TEST_F(BlockedExecutor, TokenThatIsAskedForAfterTheTermIsStopped) {
    for (const bool fixed : {false, true}) {
        mutex lock{alice, fixed ? "fixed" : "renewed"};
        const lease held = fixed ? taken(lock, lease_time{3s}) : taken(lock);
        const std::stop_token before = held.lost();
        bool called = false;
        const std::stop_callback on_loss{before, [&] { called = true; }};
        EXPECT_FALSE(fired(before));
        clock.block_for(3s);
        EXPECT_FALSE(held.owns_lock());
        EXPECT_TRUE(fired(held.lost()));
        EXPECT_TRUE(fired(held.in_danger()));
        EXPECT_FALSE(fired(before)) << "it is told by the executor";
        EXPECT_FALSE(called) << "never inside a question";
        settle();
        EXPECT_TRUE(called);
        EXPECT_TRUE(fired(held.lost()));
    }
}

TEST_F(BlockedExecutor, DangerIsKnownInTheLastThirdAndOverAfterARenewal) {
    const lease held = taken(stock);
    clock.block_for(2500ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(fired(held.in_danger()));
    EXPECT_FALSE(fired(held.lost()));
    run_for(100ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(fired(held.in_danger()));
}

TEST_F(BlockedExecutor, FixedHoldIsInNoDangerBeforeItsEnd) {
    const lease held = taken(stock, lease_time{3s});
    clock.block_for(2900ms);
    EXPECT_FALSE(fired(held.in_danger()));
}

TEST_F(BlockedExecutor, HoldWhoseTermIsOverIsNotRevivedByAnAnswer) {
    const lease held = taken(stock);
    alice.always.answer_delay = 10ms;
    run_for(1s);
    clock.block_for(3s);
    EXPECT_TRUE(fired(held.lost()));
    run_for(10s);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(fired(held.lost()));
}

} // namespace
} // namespace holdfast::sync
