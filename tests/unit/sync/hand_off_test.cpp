// SPDX-License-Identifier: Apache-2.0
// A client hands a released lock to its own next waiter without a request to the store, within the
// limits of the hand-off budget and the lease.
#include "unit/sync/stage.hpp"

#include <holdfast/counting_semaphore.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <array>

namespace holdfast::sync {
namespace {

class HandOff : public on_stage {
protected:
    static options budget(unsigned times, duration within) {
        return {.lease_time = 30s, .hand_off = {times, within}};
    }
    void release(lease held) {
        held.async_unlock(said{}.handler());
        settle();
    }
    /// Takes it and lets `waiters` queue behind.
    template <std::size_t Count>
    lease taken_before(mutex& m, std::array<said<lease>, Count>& waiters) {
        lease held = taken(m);
        for (auto& each : waiters)
            m.async_lock(each.handler());
        settle();
        return held;
    }

    struct cancellable_waiter {
        asio::cancellation_signal signal{};
        said<lease> told{};
        void cancel() { signal.emit(asio::cancellation_type::terminal); }
    };
    lease taken_before(mutex& m, cancellable_waiter& first, said<lease>& next) {
        lease held = taken(m);
        m.async_lock(asio::bind_cancellation_slot(first.signal.slot(), first.told.handler()));
        m.async_lock(next.handler());
        settle();
        return held;
    }
};

TEST_F(HandOff, TheStoreHearsOfTheFirstAcquisitionAndTheLastRelease) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    std::array<said<lease>, 3> waiters;
    release(taken_before(stock, waiters));
    for (auto& each : waiters) {
        ASSERT_TRUE(each.well());
        EXPECT_EQ(alice.log.size(), 1u);
        release(each.take());
    }
    EXPECT_EQ(alice.log.size(), 2u);
    EXPECT_EQ(alice.count(verb::release), 1u);
}

TEST_F(HandOff, AnObserverHearsOfEachReleaseAndAcquisition) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    std::array<said<lease>, 1> waiters;
    lease held = taken_before(stock, waiters);
    run_for(5ms);
    release(std::move(held));
    ASSERT_EQ(alice.ear->of(event_kind::released).size(), 1u);
    EXPECT_EQ(alice.ear->of(event_kind::released)[0].length, 5ms);
    ASSERT_EQ(alice.ear->of(event_kind::acquired).size(), 2u);
    EXPECT_EQ(alice.ear->of(event_kind::acquired)[1].length, 5ms);
}

TEST_F(HandOff, AHoldThatStaysWithItsHolderIsReleased) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    std::array<said<lease>, 1> waiters;
    lease held = taken_before(stock, waiters);
    held.hold()->stay_with_its_holder();
    release(std::move(held));
    EXPECT_EQ(alice.count(verb::release), 1u);
    settle();
    EXPECT_TRUE(waiters[0].well());
}

TEST_F(HandOff, ZeroIsNever) {
    for (const options& none : {budget(0, 1s), budget(1000, 0ms)}) {
        actor& alice = enter(none);
        mutex stock{alice, "stock"};
        std::array<said<lease>, 1> waiters;
        release(taken_before(stock, waiters));
        EXPECT_EQ(alice.count(verb::release), 1u);
        ASSERT_TRUE(waiters[0].well());
        release(waiters[0].take());
    }
}

// A store may have a token for each: ZooKeeper, MySQL. Only a fenced lock needs another one.
TEST_F(HandOff, APlainLockIsHandedOnAlthoughTheStoreNumbersEveryGrant) {
    actor& alice = enter();
    alice.meddling.token = 17;
    mutex stock{alice, "stock"};
    std::array<said<lease>, 1> waiters;
    lease held = taken_before(stock, waiters);
    EXPECT_EQ(held.fencing_token(), 0u);
    release(std::move(held));
    EXPECT_EQ(alice.count(verb::release), 0u);
    ASSERT_TRUE(waiters[0].well());
    EXPECT_EQ(waiters[0].value().fencing_token(), 0u);
    release(waiters[0].take());
}

TEST_F(HandOff, SoOftenAndThenTheStoreHears) {
    actor& alice = enter(budget(2, 1h));
    mutex stock{alice, "stock"};
    std::array<said<lease>, 4> waiters;
    release(taken_before(stock, waiters));
    release(waiters[0].take());
    EXPECT_EQ(alice.count(verb::release), 0u);
    release(waiters[1].take());
    EXPECT_EQ(alice.count(verb::release), 1u);
    release(waiters[2].take()); // which the store granted
    EXPECT_EQ(alice.count(verb::release), 1u);
    release(waiters[3].take());
}

TEST_F(HandOff, ForSoLongSinceTheStoreGrantedItAndThenTheStoreHears) {
    actor& alice = enter(budget(1000, 100ms));
    mutex stock{alice, "stock"};
    std::array<said<lease>, 2> waiters;
    lease held = taken_before(stock, waiters);
    run_for(60ms);
    release(std::move(held));
    EXPECT_EQ(alice.count(verb::release), 0u);
    run_for(40ms);
    release(waiters[0].take());
    EXPECT_EQ(alice.count(verb::release), 1u);
    release(waiters[1].take());
}

TEST_F(HandOff, WhoAsksForALeaseOfItsOwnIsGrantedItByTheStore) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    lease held = taken(stock);
    said<lease> fixed;
    stock.async_lock(lease_time{7s}, fixed.handler());
    settle();
    release(std::move(held));
    EXPECT_EQ(alice.count(verb::release), 1u);
    ASSERT_TRUE(fixed.well());
    EXPECT_EQ(alice.all(verb::look).back().lease_time, 7s);
    said<lease> next; // nor is a fixed lease handed on
    stock.async_lock(next.handler());
    settle();
    release(fixed.take());
    EXPECT_EQ(alice.count(verb::release), 2u);
    release(next.take());
}

TEST_F(HandOff, NobodyBeginsWithLessThanHalfOfWhatItAskedFor) {
    actor& alice = enter(budget(1000, 1h));
    mutex stock{alice, "stock"};
    mutex longer{alice, "stock", lease_time{2min}};
    lease held = taken(stock);
    said<lease> next;
    longer.async_lock(next.handler());
    settle();
    release(std::move(held));
    EXPECT_EQ(alice.count(verb::release), 1u);
    ASSERT_TRUE(next.well());
    EXPECT_GT(next.value().remaining(), 1min);
    release(next.take());
}

TEST_F(HandOff, AHoldIsNotHandedToACallerThatAskedForAShorterLease) {
    actor& alice = enter(budget(1000, 1h));
    mutex longest{alice, "stock", lease_time{600s}}, longer{alice, "stock", lease_time{9s}};
    mutex shorter{alice, "stock", lease_time{5s}};
    said<lease> first, second, third;
    lease held = taken(longest);
    shorter.async_lock(first.handler());
    longer.async_lock(second.handler());
    settle();
    release(std::move(held));
    EXPECT_EQ(alice.count(verb::release), 1u) << "600 s were inherited";
    ASSERT_TRUE(first.well());
    EXPECT_LE(inspect(server, "stock")->remaining.value(), 5s);
    release(first.take());
    EXPECT_EQ(alice.count(verb::release), 1u) << "a hold of 5 s is handed to a caller that wants 9";
    shorter.async_lock(third.handler());
    run_for(4s); // the hold was renewed for 9 s
    release(second.take());
    EXPECT_EQ(alice.count(verb::release), 2u) << "9 s were inherited";
    ASSERT_TRUE(third.well());
    EXPECT_LE(inspect(server, "stock")->remaining.value(), 5s);
    release(third.take());
}

TEST_F(HandOff, ANextOwnerWithALongerLeaseIsRenewedBeforeItIsInDanger) {
    actor& alice = enter(budget(1000, 1h));
    mutex shorter{alice, "stock", lease_time{5s}}, longer{alice, "stock", lease_time{9800ms}};
    lease held = taken(shorter);
    said<lease> next;
    longer.async_lock(next.handler());
    settle();
    release(std::move(held));
    EXPECT_EQ(alice.count(verb::release), 0u);
    ASSERT_TRUE(next.well());
    // The danger begins after 1.7 s. The first request was quick, so the delay was not expected.
    alice.always.answer_delay = 1300ms;
    const std::stop_token danger = next.value().in_danger();
    run_for(4s);
    EXPECT_FALSE(danger.stop_requested());
    EXPECT_GT(next.value().remaining(), 5s);
    release(next.take());
}

TEST_F(HandOff, WhatAnUnansweredExtensionMayHaveBroughtIsNotInherited) {
    actor& alice = enter(budget(1000, 1h));
    mutex stock{alice, "stock"};
    std::array<said<lease>, 1> waiters;
    lease held = taken_before(stock, waiters);
    alice.planned.emplace_back(verb::renew, fate{.answer_lost = true});
    held.async_extend(lease_time{600s}, said{}.handler());
    run_for(4s);
    release(std::move(held));
    EXPECT_EQ(alice.count(verb::release), 1u);
    ASSERT_TRUE(waiters[0].well());
    EXPECT_LE(inspect(server, "stock")->remaining.value(), 30s);
    release(waiters[0].take());
}

TEST_F(HandOff, AHoldThatIsBeingExtendedIsReleased) {
    for (const bool refused : {false, true}) {
        actor& alice = enter(budget(1000, 1h));
        mutex stock{alice, "stock"};
        std::array<said<lease>, 1> waiters;
        lease held = taken_before(stock, waiters);
        if (refused)
            server.evict("stock");
        alice.planned.emplace_back(verb::renew, fate{.answer_delay = 100ms});
        said<> extended;
        held.async_extend(lease_time{31s}, extended.handler());
        run_for(50ms);
        release(std::move(held));
        EXPECT_EQ(alice.count(verb::release), 1u);
        run_for(100ms);
        EXPECT_TRUE(extended.done());
        ASSERT_TRUE(waiters[0].well());
        EXPECT_TRUE(waiters[0].value().owns_lock());
        EXPECT_EQ(inspect(server, "stock")->owners.at(0), waiters[0].value().owner());
        release(waiters[0].take());
    }
}

TEST_F(HandOff, AForceUnlockThatIsUnderWayReachesTheNextOwner) {
    actor& alice = enter(budget(1000, 1h));
    mutex stock{alice, "stock"};
    std::array<said<lease>, 1> waiters;
    lease held = taken_before(stock, waiters);
    alice.planned.emplace_back(verb::force, fate{.request_delay = 100ms});
    said<bool> forced;
    stock.async_force_unlock(forced.handler());
    run_for(50ms);
    release(std::move(held));
    ASSERT_TRUE(waiters[0].well());
    const lease next_owner = waiters[0].take();
    EXPECT_TRUE(next_owner.owns_lock());
    run_for(50ms);
    EXPECT_TRUE(forced.value());
    EXPECT_TRUE(next_owner.lost().stop_requested());
    EXPECT_FALSE(next_owner.owns_lock());
    EXPECT_EQ(alice.ear->last(event_kind::lost)->cause, event_cause::forced);
}

TEST_F(HandOff, NextOwnerReportsForcedIfItFindsTheLossBeforeTheReplyToTheForceUnlock) {
    actor& alice = enter(budget(1000, 1h));
    mutex stock{alice, "stock"};
    std::array<said<lease>, 1> waiters;
    lease held = taken_before(stock, waiters);
    alice.planned.emplace_back(verb::force, fate{.request_delay = 100ms, .answer_delay = 100ms});
    stock.async_force_unlock(said<bool>{}.handler());
    run_for(50ms);
    release(std::move(held));
    ASSERT_TRUE(waiters[0].well());
    run_for(100ms);
    release(waiters[0].take());
    ASSERT_TRUE(alice.ear->last(event_kind::lost));
    EXPECT_EQ(alice.ear->last(event_kind::lost)->cause, event_cause::forced);
}

TEST_F(HandOff, LossAfterAForceUnlockThatFailedIsNotForced) {
    actor& alice = enter(budget(1000, 1h));
    mutex stock{alice, "stock"};
    std::array<said<lease>, 1> waiters;
    lease held = taken_before(stock, waiters);
    alice.planned.emplace_back(verb::force, fate{.request_lost = true});
    said<bool> forced;
    stock.async_force_unlock(forced.handler());
    run_for(50ms);
    release(std::move(held));
    ASSERT_TRUE(waiters[0].well());
    run_for(4s);
    EXPECT_TRUE(forced.failed(errc::outcome_unknown));
    server.evict("stock");
    run_for(20s);
    ASSERT_TRUE(alice.ear->last(event_kind::lost));
    EXPECT_EQ(alice.ear->last(event_kind::lost)->cause, event_cause::refused);
}

TEST_F(HandOff, TheTermIsOneAndIsRenewedWhenItWasDue) {
    actor& alice = enter(budget(1000, 1h));
    mutex stock{alice, "stock"};
    std::array<said<lease>, 1> waiters;
    lease held = taken_before(stock, waiters);
    run_for(9s);
    const duration left = held.remaining();
    release(std::move(held));
    ASSERT_TRUE(waiters[0].well());
    EXPECT_EQ(waiters[0].value().remaining(), left);
    EXPECT_EQ(alice.count(verb::renew), 0u);
    run_for(1s);
    EXPECT_EQ(alice.count(verb::renew), 1u);
    EXPECT_GT(waiters[0].value().remaining(), left);
    release(waiters[0].take());
}

TEST_F(HandOff, WhoeverHasItLastHearsOfItsLossAndNobodyBefore) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    std::array<said<lease>, 1> waiters;
    lease held = taken_before(stock, waiters);
    const std::stop_token earlier = held.lost();
    release(std::move(held));
    const lease next_owner = waiters[0].take();
    server.evict("stock");
    run_for(10s);
    EXPECT_TRUE(next_owner.lost().stop_requested());
    EXPECT_FALSE(earlier.stop_requested());
}

TEST_F(HandOff, TroubleIsNotHandedOn) {
    actor& alice = enter(budget(1000, 1h));
    mutex stock{alice, "stock"};
    std::array<said<lease>, 1> waiters;
    lease held = taken_before(stock, waiters);
    alice.always.refused = true;
    run_for(21s);
    ASSERT_TRUE(held.in_danger().stop_requested());
    alice.always.refused = false;
    release(std::move(held));
    run_for(10s);
    EXPECT_EQ(alice.count(verb::release), 1u);
    ASSERT_TRUE(waiters[0].well());
    release(waiters[0].take());
}

TEST_F(HandOff, WhoIsCancelledAtTheVeryMomentIsPassedOver) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    cancellable_waiter first;
    said<lease> next;
    lease held = taken_before(stock, first, next);
    first.cancel();
    release(std::move(held));
    EXPECT_TRUE(first.told.failed(asio::error::operation_aborted));
    ASSERT_TRUE(next.well());
    EXPECT_EQ(alice.count(verb::release), 0u);
    release(next.take());
}

TEST_F(HandOff, WhoIsCancelledJustAfterHasItAndLetsItGo) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    cancellable_waiter first;
    said<lease> next;
    lease held = taken_before(stock, first, next);
    held.async_unlock(said{}.handler());
    first.cancel();
    settle();
    ASSERT_TRUE(first.told.well());
    release(first.told.take());
    ASSERT_TRUE(next.well());
    release(next.take());
}

TEST_F(HandOff, AClientThatClosesHandsNothingOn) {
    actor& alice = enter({.close_timeout = 1s});
    mutex stock{alice, "stock"};
    std::array<said<lease>, 1> waiters;
    lease held = taken_before(stock, waiters);
    close(alice);
    settle();
    EXPECT_TRUE(waiters[0].failed(errc::closed));
    release(std::move(held));
    EXPECT_EQ(alice.count(verb::release), 1u);
}

TEST_F(HandOff, OtherClientsHaveTheirTurnWhenTheBudgetIsUsedUp) {
    actor& alice = enter(budget(1, 1h));
    actor& bob = enter();
    mutex hers{alice, "stock"}, his{bob, "stock"};
    said<lease> bobs;
    std::array<said<lease>, 2> waiters;
    lease held = taken_before(hers, waiters);
    bob.always.request_delay = 1ms; // he is slower than who releases by its own hand
    his.async_lock(bobs.handler());
    run_for(1s);
    release(std::move(held));
    ASSERT_TRUE(waiters[0].well());
    release(waiters[0].take());
    run_for(10ms);
    ASSERT_TRUE(bobs.well());
    EXPECT_FALSE(waiters[1].done());
    release(bobs.take());
    run_for(10s);
    ASSERT_TRUE(waiters[1].well());
    release(waiters[1].take());
}

// Released permits go to who waits in the same client without a word to the store: all of them, or
// none, so that a release that fails has done nothing.

struct PassOn : on_stage {
    actor& alice = enter({.hand_off = {.times_max = 1000, .within = 1h}});
    counting_semaphore seats{alice, "seats"};

    /// All three are in somebody's hands.
    void SetUp() override {
        said<bool> made;
        said<> taken;
        seats.async_try_set_permits(3, made.handler());
        seats.async_acquire(3, taken.handler());
        settle();
        ASSERT_TRUE(taken.well());
    }
    said<> waiting_for(std::int64_t permits) {
        said<> got;
        seats.async_acquire(permits, got.handler());
        settle();
        return got;
    }
    said<> released(std::int64_t permits) {
        said<> done;
        seats.async_release(permits, done.handler());
        settle();
        return done;
    }
    std::optional<std::int64_t> left() const { return counter(server, "seats"); }
};

TEST_F(PassOn, WhatIsReleasedGoesToAllWhoWantJustThat) {
    const said<> two = waiting_for(2), one = waiting_for(1), more = waiting_for(1);
    EXPECT_TRUE(released(3).well());
    EXPECT_TRUE(two.well());
    EXPECT_TRUE(one.well());
    EXPECT_FALSE(more.done());
    EXPECT_EQ(alice.count(verb::change), 1u) << "but for the one that made it";
    EXPECT_EQ(left(), 0);
    (void)released(1);
    EXPECT_TRUE(more.well());
}

TEST_F(PassOn, MoreThanTheyWantGoesToTheStore) {
    const said<> two = waiting_for(2);
    EXPECT_TRUE(released(3).well());
    run_for(10ms);
    EXPECT_TRUE(two.well());
    EXPECT_EQ(left(), 1);
}

TEST_F(PassOn, WhoWantsLessDoesNotOvertake) {
    const said<> two = waiting_for(2), one = waiting_for(1);
    EXPECT_TRUE(released(1).well());
    EXPECT_FALSE(two.done());
    EXPECT_FALSE(one.done());
    EXPECT_EQ(left(), 1);
    EXPECT_TRUE(released(2).well());
    run_for(10ms);
    EXPECT_TRUE(two.well());
    EXPECT_TRUE(one.well());
}

TEST_F(PassOn, AReleaseThatFailsHasPassedNothing) {
    const said<> two = waiting_for(2);
    alice.planned = {{verb::change, {.overloaded = true}}};
    EXPECT_TRUE(released(3).failed(errc::overloaded));
    run_for(10ms);
    EXPECT_FALSE(two.done()) << "and who released was told that nothing was done";
    EXPECT_TRUE(released(3).well());
    run_for(10ms);
    EXPECT_TRUE(two.well());
    EXPECT_EQ(left(), 1);
}

} // namespace
} // namespace holdfast::sync
