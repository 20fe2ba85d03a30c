// SPDX-License-Identifier: Apache-2.0
#include "unit/sync/stage.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace holdfast::sync {
namespace {

class Renewal : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s}, 1s);
    mutex stock{alice, "stock"};

    std::vector<duration> renewed_at() const {
        std::vector<duration> moments;
        for (const sent& each : alice.all(verb::renew))
            moments.push_back(each.at - start());
        return moments;
    }
    void cut() { alice.always = fate{.refused = true}; }
    void mend() { alice.always = fate{}; }
};

TEST_F(Renewal, AHoldIsRenewedAtAThirdOfItsLease) {
    const lease held = taken(stock);
    run_for(35s);
    EXPECT_EQ(renewed_at(), (std::vector<duration>{10s, 20s, 30s}));
    EXPECT_EQ(alice.all(verb::renew).front().lease_time, 30s);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(held.remaining(), 30s - 302ms - 5s);
}

TEST_F(Renewal, AnHourOfItKeepsTheLock) {
    const lease held = taken(stock);
    actor& bob = enter();
    mutex his{bob, "stock"};
    said<std::optional<lease>> tried;
    his.async_try_lock_for(1h, tried.handler());
    run_for(1h);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(tried.well());
    EXPECT_FALSE(tried.value());
    EXPECT_EQ(alice.count(verb::renew), 360u);
}

TEST_F(Renewal, ItsPeriodIsShortenedByChanceByUpToATenth) {
    alice.dice = 1'000; // of the 1001 milliseconds that may be taken off
    const lease held = taken(stock);
    run_for(20s);
    EXPECT_EQ(renewed_at(), (std::vector<duration>{9s, 18s}));
}

TEST_F(Renewal, AFixedLeaseIsLookedAtAsOftenAndNeverExtended) {
    const lease held = taken(stock, lease_time{30s});
    run_for(25s);
    EXPECT_EQ(renewed_at(), (std::vector<duration>{10s, 20s}));
    for (const sent& each : alice.all(verb::renew))
        EXPECT_EQ(each.lease_time, 0ms);
    EXPECT_EQ(held.remaining(), 30s - 302ms - 25s);
}

TEST_F(Renewal, AFixedLeaseEndsByItselfABitBeforeTheStoreForgets) {
    const lease held = taken(stock, lease_time{30s});
    const std::stop_token lost = held.lost();
    run_for(30s - 302ms - 1ms);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(lost.stop_requested());
    run_for(1ms);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_EQ(held.remaining(), 0ms);
}

TEST_F(Renewal, ManyHoldsAreRenewedByOneRequest) {
    std::vector<std::unique_ptr<mutex>> locks;
    std::vector<lease> held;
    for (int i = 0; i < 50; ++i) {
        locks.push_back(std::make_unique<mutex>(alice, "lock" + std::to_string(i)));
        held.push_back(taken(*locks.back()));
    }
    run_for(10s);
    ASSERT_EQ(alice.count(verb::renew), 1u);
    EXPECT_EQ(alice.all(verb::renew).front().holds.size(), 50u);
}

TEST_F(Renewal, NoMoreThanACompanyTravelAtOnceAndThoseFirstThatAreDueFirst) {
    std::vector<lease> held;
    const auto take = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            mutex each{alice, "lock" + std::to_string(held.size())};
            held.push_back(taken(each));
        }
    };
    take(renewal::company_max);
    run_for(100ms);
    take(renewal::company_max + 1);
    run_for(10s);
    const std::vector<sent> requests = alice.all(verb::renew);
    ASSERT_EQ(requests.size(), 3u);
    for (const hold& each : requests[0].holds)
        EXPECT_LE(each.owner.number, renewal::company_max);
    EXPECT_EQ(renewed_at(), (std::vector<duration>{10s, 10s + 100ms, 10s + 100ms}));
    EXPECT_EQ(requests[2].holds.size(), 1u);
}

TEST_F(Renewal, HoldsThatAreNearlyDueTravelAlong) {
    mutex shelf{alice, "shelf"};
    const lease first = taken(stock);
    run_for(900ms);
    const lease second = taken(shelf);
    run_for(1min);
    for (const sent& each : alice.all(verb::renew))
        EXPECT_EQ(each.holds.size(), 2u);
}

TEST_F(Renewal, DifferentLeasesAreDifferentRequests) {
    mutex shelf{alice, "shelf", lease_time{29s}};
    const lease first = taken(stock), second = taken(shelf);
    run_for(10s);
    std::set<duration> lengths;
    for (const sent& each : alice.all(verb::renew)) {
        EXPECT_EQ(each.holds.size(), 1u);
        lengths.insert(each.lease_time);
    }
    EXPECT_EQ(lengths, (std::set<duration>{29s, 30s}));
}

TEST_F(Renewal, ALockObjectMayHaveALeaseTimeOfItsOwn) {
    mutex brief{alice, "brief", lease_time{3s}};
    const lease held = taken(brief);
    EXPECT_EQ(server.inspect("brief")->remaining, 3s);
    run_for(1min);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(alice.count(verb::renew), 60u);
}

TEST_F(Renewal, AFailedOneIsRepeatedAndChangesNothing) {
    const lease held = taken(stock);
    cut();
    run_for(12s);
    EXPECT_EQ(renewed_at(), (std::vector<duration>{10s, 11s, 12s}));
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(held.lost().stop_requested());
    EXPECT_FALSE(held.in_danger().stop_requested());
    mend();
    run_for(1s);
    EXPECT_EQ(held.remaining(), 30s - 302ms);
}

TEST_F(Renewal, TheHolderIsWarnedWhenAThirdIsLeftAndToldWhenItEnds) {
    const lease held = taken(stock);
    const duration end = 30s - 302ms;
    duration warned_at{}, lost_at{};
    const std::stop_callback on_danger{held.in_danger(), [&] { warned_at = elapsed(); }};
    const std::stop_callback on_loss{held.lost(), [&] { lost_at = elapsed(); }};
    cut();
    run_for(1min);
    EXPECT_EQ(warned_at, end - 10s);
    EXPECT_EQ(lost_at, end);
}

TEST_F(Renewal, ADangerThatIsOverLeavesAFreshToken) {
    const lease held = taken(stock);
    cut();
    run_for(25s);
    const std::stop_token then = held.in_danger();
    EXPECT_TRUE(then.stop_requested());
    mend();
    run_for(1s);
    EXPECT_FALSE(held.in_danger().stop_requested());
    EXPECT_FALSE(held.lost().stop_requested());
    cut();
    run_for(25s);
    EXPECT_TRUE(held.in_danger().stop_requested()) << "a second danger is told too";
}

TEST_F(Renewal, AnAnswerThatHangsDoesNotHideTheEndOfTheTerm) {
    actor& bob = enter({}, 10min);
    mutex his{bob, "stock"};
    const lease held = taken(his);
    bob.always.request_delay = 5min;
    duration lost_at{};
    const std::stop_callback on_loss{held.lost(), [&] { lost_at = elapsed(); }};
    run_for(1min);
    EXPECT_EQ(lost_at, 30s - 302ms);
}

TEST_F(Renewal, AnAnswerCountsFromItsRequest) {
    const lease held = taken(stock);
    alice.always.answer_delay = 800ms;
    run_for(10s + 800ms);
    EXPECT_EQ(held.remaining(), 30s - 302ms - 800ms);
}

TEST_F(Renewal, ARefusalEndsTheLeaseAtOnce) {
    const lease held = taken(stock);
    server.evict("stock");
    run_for(10s - 1ms);
    EXPECT_TRUE(held.owns_lock()) << "it cannot know yet";
    run_for(1ms);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_TRUE(held.in_danger().stop_requested());
}

TEST_F(Renewal, ARefusalOfAFixedLeaseEndsItToo) {
    const lease held = taken(stock, lease_time{1h});
    server.evict("stock");
    run_for(20min);
    EXPECT_TRUE(held.lost().stop_requested());
}

TEST_F(Renewal, OneRefusalDoesNotHarmTheOthersOfItsBatch) {
    mutex shelf{alice, "shelf"}, desk{alice, "desk"};
    const lease first = taken(stock), second = taken(shelf), third = taken(desk);
    server.occupy("shelf", 1h);
    run_for(10s);
    EXPECT_EQ(alice.count(verb::renew), 1u);
    EXPECT_TRUE(first.owns_lock());
    EXPECT_FALSE(second.owns_lock());
    EXPECT_TRUE(third.owns_lock());
}

TEST_F(Renewal, ADoubtIsAskedAboutAtOnce) {
    const lease held = taken(stock);
    run_for(2s);
    server.evict("stock");
    ASSERT_EQ(alice.meddling.watchers.size(), 1u);
    (*alice.meddling.watchers.begin())->doubt();
    settle();
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_TRUE(alice.meddling.watchers.empty()) << "a lost hold is watched over";
}

TEST_F(Renewal, ADoubtWithoutReasonDoesNoHarm) {
    lease held = taken(stock);
    (*alice.meddling.watchers.begin())->doubt();
    settle();
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(alice.count(verb::renew), 1u);
    held.async_unlock(said{}.handler());
    settle();
    EXPECT_TRUE(alice.meddling.watchers.empty()) << "a released hold is watched over";
}

TEST_F(Renewal, NothingIsRenewedAfterItsReleaseBegan) {
    lease held = taken(stock);
    run_for(10s - 1ms);
    alice.always.request_delay = 500ms;
    said<> released;
    held.async_unlock(released.handler());
    run_for(1h);
    EXPECT_TRUE(released.well());
    EXPECT_EQ(alice.count(verb::renew), 0u);
}

TEST_F(Renewal, TheAnswerToOneThatWasUnderWayIsIgnoredAfterTheRelease) {
    lease held = taken(stock);
    alice.always.request_delay = 100ms;
    run_for(10s + 50ms); // the renewal is on its way
    said<> released;
    held.async_unlock(released.handler());
    run_for(1h);
    EXPECT_TRUE(released.well());
    EXPECT_EQ(alice.count(verb::renew), 1u);
    EXPECT_EQ(alice.ear->count(event_kind::lost), 0u);
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(Renewal, AProcessThatSleptLongerThanTheLeaseKnowsAtOnceThatItIsOver) {
    actor& bob = enter({}, 1h);
    mutex his{bob, "stock"};
    const lease held = taken(his);
    bob.always.request_lost = true;
    run_for(31s);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_TRUE(held.lost().stop_requested());
}

TEST_F(Renewal, ManyCyclesLeaveOneRenewalPerPeriod) {
    for (int i = 0; i < 100; ++i) {
        taken(stock).async_unlock(said{}.handler());
        settle();
    }
    const lease held = taken(stock);
    run_for(1min);
    EXPECT_EQ(alice.count(verb::renew), 6u);
}

TEST_F(Renewal, AHoldThatEndsInsideItsOwnWarningIsNotTouchedAgain) {
    alice.meddling.objects = [](verb what) {
        return what == verb::renew ? make_error_code(store_errc::loading) : error_code{};
    };
    lease held = taken(stock);
    said<> released;
    const std::stop_callback on_danger{held.in_danger(),
                                       [&] { held.async_unlock(released.handler()); }};
    run_for(25s);
    EXPECT_TRUE(released.well());
    EXPECT_EQ(server.held_count(), 0u);
    EXPECT_EQ(alice.ear->count(event_kind::lost), 0u);
}

class MaxHold : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s, .max_hold = 1min}, 1s);
    mutex stock{alice, "stock"};
};

TEST_F(MaxHold, RenewalStopsWhenItIsReached) {
    const lease held = taken(stock);
    duration lost_at{};
    const std::stop_callback on_loss{held.lost(), [&] { lost_at = elapsed(); }};
    run_for(1min - 1ms);
    EXPECT_TRUE(held.owns_lock());
    run_for(10min);
    EXPECT_EQ(lost_at, 50s + 30s - 302ms) << "the term of the last renewal before it";
    ASSERT_TRUE(alice.ear->last(event_kind::lost));
    EXPECT_EQ(alice.ear->last(event_kind::lost)->cause, event_cause::max_hold);
    EXPECT_EQ(alice.ear->count(event_kind::in_danger), 1u);
}

TEST_F(MaxHold, ItsEndIsStillLookedFor) {
    const lease held = taken(stock);
    run_for(61s);
    server.evict("stock");
    run_for(10s);
    EXPECT_FALSE(held.owns_lock()) << "refusals count after max_hold too";
    EXPECT_EQ(alice.ear->last(event_kind::lost)->cause, event_cause::refused);
}

TEST_F(MaxHold, EachHoldHasItsOwn) {
    for (int i = 0; i < 3; ++i) {
        lease held = taken(stock);
        run_for(59s);
        EXPECT_TRUE(held.owns_lock()) << i;
        held.async_unlock(said{}.handler());
        settle();
    }
}

TEST_F(MaxHold, AFixedLeaseIsNotCutByIt) {
    const lease held = taken(stock, lease_time{5min});
    run_for(4min);
    EXPECT_TRUE(held.owns_lock());
}

} // namespace
} // namespace holdfast::sync
