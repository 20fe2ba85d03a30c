// SPDX-License-Identifier: Apache-2.0
#include "sync/lease_validity.hpp"
#include "unit/sync/stage.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

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

TEST_F(Renewal, NoMoreThanABatchTravelsAtOnceAndThoseFirstThatAreDueFirst) {
    std::vector<lease> held;
    const auto take = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            mutex each{alice, "lock" + std::to_string(held.size())};
            held.push_back(taken(each));
        }
    };
    take(renewal::batch_holds_max);
    run_for(100ms);
    take(renewal::batch_holds_max + 1);
    run_for(10s);
    const std::vector<sent> requests = alice.all(verb::renew);
    ASSERT_EQ(requests.size(), 3u);
    for (const hold& each : requests[0].holds)
        EXPECT_LE(each.owner.number, renewal::batch_holds_max);
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
    EXPECT_EQ(inspect(server, "brief")->remaining, 3s);
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
    (*alice.meddling.watchers.begin())->revalidate();
    settle();
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_TRUE(alice.meddling.watchers.empty()) << "a lost hold is watched over";
}

TEST_F(Renewal, ADoubtWithoutReasonDoesNoHarm) {
    lease held = taken(stock);
    (*alice.meddling.watchers.begin())->revalidate();
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
    EXPECT_EQ(held_count(server), 0u);
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
    EXPECT_EQ(held_count(server), 0u);
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

TEST_F(MaxHold, ExtendProlongsAHoldWhoseRenewalHasStopped) {
    lease held = taken(stock);
    run_for(61s);
    said<> extended;
    held.async_extend(lease_time{1min}, extended.handler());
    run_for(59s);
    EXPECT_TRUE(extended.well());
    EXPECT_TRUE(held.owns_lock());
    run_for(1s);
    EXPECT_FALSE(held.owns_lock()) << "the extension is not renewed";
    EXPECT_EQ(alice.ear->last(event_kind::lost)->cause, event_cause::max_hold);
}

TEST_F(MaxHold, ReleaseThatFindsTheEndReportsIt) {
    lease held = taken(stock);
    run_for(60s);
    clock.block_for(30s); // the executor is blocked and cannot report the end
    said<> left;
    held.async_unlock(left.handler());
    settle();
    EXPECT_TRUE(left.failed(errc::lease_lost));
    EXPECT_EQ(alice.ear->last(event_kind::lost)->cause, event_cause::max_hold);
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

// lease::async_extend, and async re-entry, which shares a hold.

class Extend : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s}, 1s);
    recursive_mutex stock{alice, "stock"};
    said<> extended;
    said<lease> inner;

    duration stored() const { return inspect(server, "stock")->remaining.value(); }
};

TEST_F(Extend, AFixedLeaseLastsSoLongFromNow) {
    lease held = taken(stock, lease_time{5s});
    run_for(3s);
    held.async_extend(lease_time{60s}, extended.handler());
    settle();
    EXPECT_TRUE(extended.well());
    EXPECT_EQ(stored(), 60s);
    EXPECT_EQ(held.remaining(), 60s - 602ms);
    run_for(1min);
    EXPECT_FALSE(held.owns_lock()) << "it is fixed, and not renewed";
}

TEST_F(Extend, ARenewedLeaseKeepsTheLongerOne) {
    lease held = taken(stock);
    held.async_extend(lease_time{90s}, extended.handler());
    settle();
    EXPECT_EQ(stored(), 90s);
    run_for(10min);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_GE(stored(), 60s);
}

TEST_F(Extend, ItNeverShortens) {
    lease held = taken(stock, lease_time{60s});
    held.async_extend(lease_time{1s}, extended.handler());
    settle();
    EXPECT_TRUE(extended.well());
    EXPECT_EQ(stored(), 60s);
    EXPECT_EQ(held.remaining(), 60s - 602ms);
    run_for(50s);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(Extend, AfterALossItSaysSo) {
    lease held = taken(stock, lease_time{5s});
    server.occupy("stock", 1h);
    held.async_extend(lease_time{60s}, extended.handler());
    settle();
    EXPECT_TRUE(extended.failed(errc::lease_lost));
    EXPECT_TRUE(held.lost().stop_requested());
    said<> again;
    held.async_extend(lease_time{60s}, again.handler());
    settle();
    EXPECT_TRUE(again.failed(errc::lease_lost));
}

TEST_F(Extend, AnEmptyLeaseHasNothingToExtend) {
    lease none;
    EXPECT_THROW(none.extend(lease_time{1s}), boost::system::system_error);
}

TEST_F(Extend, AFailureLeavesItAsItWas) {
    lease held = taken(stock, lease_time{20s});
    alice.always.refused = true;
    held.async_extend(lease_time{60s}, extended.handler());
    settle();
    EXPECT_TRUE(extended.failed(errc::unreachable));
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(held.remaining(), 20s - 202ms);
}

TEST_F(Extend, AnAnswerThatComesAfterTheEndDoesNotReviveIt) {
    lease held = taken(stock, lease_time{500ms});
    alice.always.answer_delay = 800ms;
    held.async_extend(lease_time{600ms}, extended.handler());
    run_for(800ms);
    EXPECT_TRUE(extended.failed(errc::lease_lost));
    EXPECT_FALSE(held.owns_lock());
    run_for(1h);
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Extend, AnAnswerThatAnExtensionBesideItMadeTimeForIsStillAwaited) {
    lease held = taken(stock, lease_time{1s});
    run_for(held.remaining() - 3ms);
    alice.planned.emplace_back(verb::renew, fate{.answer_delay = 5ms});
    said<> beside;
    held.async_extend(lease_time{10s}, extended.handler());
    held.async_extend(lease_time{5s}, beside.handler());
    run_for(20ms);
    EXPECT_TRUE(beside.well());
    EXPECT_TRUE(extended.well());
    EXPECT_GT(held.remaining(), 9s);
}

TEST_F(Extend, WhatIsReleasedBeforeTheAnswerIsNotUnknown) {
    lease held = taken(stock, lease_time{1s});
    run_for(held.remaining() - 3ms);
    alice.planned.emplace_back(verb::renew, fate{.answer_delay = 5ms});
    said<> beside, released;
    held.async_extend(lease_time{10s}, extended.handler());
    held.async_extend(lease_time{5s}, beside.handler());
    settle();
    std::move(held).async_unlock(released.handler());
    run_for(20ms);
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(extended.failed(errc::lease_lost));
}

TEST_F(Extend, AnImpossibleLengthIsRefusedBeforeAnythingIsSent) {
    lease held = taken(stock);
    const std::size_t asked = alice.log.size();
    for (const lease_time bad : {lease_time{0s}, lease_time{-1s}, lease_time{24h * 3653}}) {
        said<> refused;
        held.async_extend(bad, refused.handler());
        settle();
        EXPECT_TRUE(refused.failed(errc::invalid_argument)) << bad.value.count();
    }
    EXPECT_EQ(alice.log.size(), asked);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(Extend, ReentryNamesItsHoldAndSendsNothing) {
    lease outer = taken(stock);
    const std::size_t asked = alice.log.size();
    stock.async_lock(outer, inner.handler());
    settle();
    ASSERT_TRUE(inner.well());
    EXPECT_EQ(alice.log.size(), asked);
    EXPECT_EQ(inner.value().owner(), outer.owner());
}

TEST_F(Extend, WithoutNamingItEveryCallIsANewOwner) {
    const lease outer = taken(stock);
    said<std::optional<lease>> tried;
    stock.async_try_lock(tried.handler());
    settle();
    EXPECT_FALSE(tried.value());
}

TEST_F(Extend, ReentryOfALostHoldSaysSo) {
    const lease outer = taken(stock);
    server.evict("stock");
    run_for(10s);
    stock.async_lock(outer, inner.handler());
    settle();
    EXPECT_TRUE(inner.failed(errc::lease_lost));
    EXPECT_EQ(held_count(server), 0u) << "it quietly acquired again";
}

TEST_F(Extend, ReentryThroughAnotherLocksLeaseIsRefused) {
    recursive_mutex shelf{alice, "shelf"};
    actor& bob = enter();
    recursive_mutex same_name{bob, "stock"};
    const lease other = taken(shelf), none;
    said<lease> by_name, by_nothing, by_client;
    stock.async_lock(other, by_name.handler());
    stock.async_lock(none, by_nothing.handler());
    const lease mine = taken(stock);
    same_name.async_lock(mine, by_client.handler());
    settle();
    EXPECT_TRUE(by_name.failed(errc::not_owner));
    EXPECT_TRUE(by_nothing.failed(errc::not_owner));
    EXPECT_TRUE(by_client.failed(errc::not_owner));
}

TEST_F(Extend, ReentryAfterTheReleaseBeganIsALoss) {
    lease outer = taken(stock);
    alice.always.request_delay = 100ms;
    const std::shared_ptr<lock_handle> hold = outer.hold();
    said<> released;
    outer.async_unlock(released.handler());
    run_for(50ms);
    stock.async_lock(lease{hold}, inner.handler());
    run_for(1s);
    EXPECT_TRUE(inner.failed(errc::lease_lost));
    EXPECT_TRUE(released.well());
}

using namespace std::chrono_literals;

constexpr time_point noon{std::chrono::hours{12}};
constexpr duration ten_years = std::chrono::hours{24 * 3652};

TEST(LeaseTerm, TheMarginIsOnePercentAndTwoMilliseconds) {
    EXPECT_EQ(margin(30s), 302ms);
    EXPECT_EQ(margin(1s), 12ms);
    EXPECT_EQ(margin(100ms), 3ms);
}

TEST(LeaseTerm, TheMarginOfAShortLeaseIsHalfOfItAtMost) {
    EXPECT_EQ(margin(4ms), 2ms);
    EXPECT_EQ(margin(3ms), 1ms);
    EXPECT_EQ(margin(1ms), 0ms);
}

TEST(LeaseTerm, ALeaseCountsFromWhenItsRequestWasSent) {
    EXPECT_EQ(valid_until(noon, 30s), noon + 30s - 302ms);
}

TEST(LeaseTerm, EveryAllowedLeaseIsBelievedForAtLeastHalfOfItAndNeverForMore) {
    for (duration lease = 1ms; lease <= ten_years; lease = lease * 3 / 2 + 1ms) {
        EXPECT_GT(valid_until(noon, lease), noon) << lease.count();
        EXPECT_GE(valid_until(noon, lease), noon + lease / 2) << lease.count();
        EXPECT_LE(valid_until(noon, lease), noon + lease) << lease.count();
    }
}

TEST(LeaseTerm, AMomentTooFarAwayIsNever) {
    EXPECT_EQ(later(noon, duration::max()), time_point::max());
    EXPECT_EQ(later(time_point::max(), 1ms), time_point::max());
    EXPECT_EQ(later(time_point::max() - 1ms, 1ms), time_point::max());
    EXPECT_EQ(later(time_point::max() - 2ms, 1ms), time_point::max() - 1ms);
    EXPECT_EQ(later(noon, 0ms), noon);
}

TEST(LeaseTerm, RenewalLeavesRoomForTwoFailuresBeforeTheEnd) {
    EXPECT_EQ(renewal_period(30s), 10s);
    EXPECT_EQ(danger_period(30s), 10s);
    for (duration lease = 100ms; lease <= ten_years; lease *= 3)
        EXPECT_LE(2 * renewal_period(lease) + danger_period(lease), lease) << lease.count();
}

TEST(LeaseTerm, TheShortestLeaseIsRenewedOnceAMillisecondAndNotWithoutPause) {
    EXPECT_EQ(renewal_period(1ms), 1ms);
    EXPECT_EQ(renewal_period(2ms), 1ms);
    EXPECT_EQ(retry_period(1ms, 1ms), 1ms);
}

TEST(LeaseTerm, AFailedRenewalIsRepeatedAfterATenthOfTheLeaseAndWithinASecond) {
    EXPECT_EQ(retry_period(3s, 2s), 300ms);
    EXPECT_EQ(retry_period(30s, 20s), 1s);
    EXPECT_EQ(retry_period(ten_years, ten_years), 1s);
}

TEST(LeaseTerm, ShortBeforeTheEndTheLastRepetitionsComeSooner) {
    EXPECT_EQ(retry_period(30s, 2s), 500ms);
    EXPECT_EQ(retry_period(30s, 10ms), 100ms) << "but they do not spin";
}

TEST(LeaseTerm, AnAnswerIsWaitedForForAPartOfWhatIsLeft) {
    EXPECT_EQ(answer_period(3s), 750ms);
    EXPECT_EQ(answer_period(20s), 5s);
    EXPECT_EQ(answer_period(500ms), 300ms);
    EXPECT_EQ(answer_period(-1s), 300ms);
    for (duration left = 1s; left <= ten_years; left = left * 3 / 2) {
        EXPECT_LE(answer_period(left), left / 3) << left.count();
        EXPECT_GE(answer_period(left), std::min(left / 7, answer_period(1s))) << left.count();
    }
}

TEST(LeaseTerm, TheNextAnswerIsWaitedForTwiceAsLong) {
    EXPECT_EQ(next_answer_period(answer_period(20s)), 10s);
}

TEST(LeaseTerm, ThePauseDoublesWithEachRefusalAFewTimes) {
    EXPECT_EQ(retry_period(30s, 20s, 0), 1s);
    EXPECT_EQ(retry_period(30s, 20s, 1), 2s);
    EXPECT_EQ(retry_period(30s, 30s, 3), 7500ms);
    EXPECT_EQ(retry_period(1h, 1h, 100), 8s);
    EXPECT_EQ(retry_period(30s, 2s, 3), 500ms) << "no longer than a part of what is left";
}

TEST(LeaseTerm, ARenewalThatIsNotAnsweredLeavesRoomForAnother) {
    for (duration lease = 1s; lease <= ten_years; lease = lease * 5 / 4) {
        const duration term = lease - margin(lease);
        duration left = term - renewal_period(lease);
        left -= answer_period(left);
        left -= retry_period(lease, left);
        EXPECT_GE(left, lease / 5) << lease.count();
        if (lease >= 5s) {
            EXPECT_GE(left, danger_period(lease)) << "it is not even warned: " << lease.count();
        }
    }
}

} // namespace
} // namespace holdfast::sync
