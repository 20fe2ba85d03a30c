// SPDX-License-Identifier: Apache-2.0
// Fair locks: each waiter has a place of its own in the store's queue.
#include "store/memory/server_state.hpp"
#include "sync/gate.hpp"
#include "unit/sync/stage.hpp"

#include <holdfast/fair_mutex.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::sync {
namespace {

class Fair : public on_stage {
protected:
    actor& alice = enter();
    actor& bob = enter();
    fair_mutex desk{alice, "desk"};
    fair_mutex his{bob, "desk"};

    void release(lease held) {
        held.async_unlock(said{}.handler());
        settle();
    }
    std::size_t places() const { return primary_state(server)->waiting("desk").size(); }
};

TEST_F(Fair, AFreeLockIsTakenAndReleasedWithOneMessageEach) {
    release(taken(desk));
    EXPECT_EQ(alice.log.size(), 2u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Fair, WaitersOfAllClientsAreServedInOrderOfArrival) {
    lease held = taken(desk);
    std::array<said<lease>, 6> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        (i % 2 == 0 ? his : desk).async_lock(all[i].handler());
        settle();
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        release(std::move(held));
        for (std::size_t other = i + 1; other < all.size(); ++other)
            EXPECT_FALSE(all[other].done()) << other << " overtakes";
        ASSERT_TRUE(all[i].well()) << i;
        held = all[i].take();
    }
    release(std::move(held));
    EXPECT_TRUE(is_idle(alice) && is_idle(bob));
}

TEST_F(Fair, EachWaiterOfAClientHasAPlaceOfItsOwn) {
    const lease held = taken(his);
    std::array<said<lease>, 5> all;
    for (auto& each : all)
        desk.async_lock(each.handler());
    settle();
    EXPECT_EQ(places(), 5u);
    EXPECT_EQ(listener_count(server), 5u);
}

TEST_F(Fair, TheOrderOfSendingIsTheOrderOfArrival) {
    const lease held = taken(his);
    alice.planned.push_back({verb::look, {.request_delay = 100ms}});
    std::array<said<lease>, 3> all;
    for (auto& each : all)
        desk.async_lock(each.handler());
    run_for(99ms);
    EXPECT_EQ(alice.count(verb::look), 1u) << "the second is sent before the first has its place";
    run_for(10ms);
    ASSERT_EQ(places(), 3u);
    EXPECT_EQ(primary_state(server)->waiting("desk").front(),
              to_string(alice.log[0].holds[0].owner));
}

TEST_F(Fair, AHoldIsNotHandedOnInsideAClient) {
    lease held = taken(desk);
    said<lease> stranger, next;
    his.async_lock(stranger.handler());
    settle();
    desk.async_lock(next.handler());
    settle();
    release(std::move(held));
    EXPECT_TRUE(stranger.well());
    EXPECT_FALSE(next.done());
}

TEST_F(Fair, ATryTakesNoPlaceAndOvertakesNobody) {
    lease held = taken(desk);
    said<std::optional<lease>> first, second;
    his.async_try_lock(first.handler());
    settle();
    EXPECT_FALSE(first.value());
    EXPECT_EQ(places(), 0u);
    said<lease> waits;
    bob.planned.push_back({verb::look, {}});
    his.async_lock(waits.handler());
    settle();
    bob.always.wake_up_lost = true;
    release(std::move(held));
    desk.async_try_lock(second.handler());
    settle();
    EXPECT_TRUE(second.well());
    EXPECT_FALSE(second.value() && !waits.done()) << "it overtook who waits";
}

TEST_F(Fair, WhoTimesOutLeavesTheQueueAtOnce) {
    const lease held = taken(his);
    said<std::optional<lease>> impatient;
    desk.async_try_lock_for(1s, impatient.handler());
    settle();
    EXPECT_EQ(places(), 1u);
    run_for(1s);
    EXPECT_TRUE(impatient.well() && !impatient.value());
    EXPECT_EQ(places(), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Fair, WhoIsCancelledLeavesTheQueueAtOnce) {
    const lease held = taken(his);
    asio::cancellation_signal stop;
    said<lease> waits;
    desk.async_lock(asio::bind_cancellation_slot(stop.slot(), waits.handler()));
    settle();
    stop.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_TRUE(waits.failed(asio::error::operation_aborted));
    EXPECT_EQ(places(), 0u);
}

TEST_F(Fair, AClosedClientLeavesAllQueues) {
    const lease held = taken(his);
    said<lease> one, two;
    desk.async_lock(one.handler());
    desk.async_lock(two.handler());
    settle();
    EXPECT_EQ(places(), 2u);
    close(alice);
    settle();
    EXPECT_TRUE(one.failed(errc::closed) && two.failed(errc::closed));
    EXPECT_EQ(places(), 0u);
}

TEST_F(Fair, ALeavingThatFailsIsRepeated) {
    const lease held = taken(his);
    said<std::optional<lease>> impatient;
    desk.async_try_lock_for(1s, impatient.handler());
    settle();
    alice.planned.push_back({verb::release, {.refused = true}});
    run_for(1s);
    EXPECT_TRUE(impatient.done());
    run_for(100ms);
    EXPECT_EQ(places(), 0u);
}

TEST_F(Fair, AnUnansweredLookThatLeftAPlaceIsLeft) {
    const lease held = taken(his);
    alice.always = {.answer_lost = true};
    asio::cancellation_signal stop;
    said<lease> waits;
    desk.async_lock(asio::bind_cancellation_slot(stop.slot(), waits.handler()));
    run_for(10ms);
    EXPECT_EQ(places(), 1u);
    alice.always = {};
    stop.emit(asio::cancellation_type::terminal);
    run_for(10s);
    EXPECT_EQ(places(), 0u);
}

TEST_F(Fair, AWaiterKeepsItsPlaceForHours) {
    lease held = taken(his);
    said<lease> first, second;
    desk.async_lock(first.handler());
    settle();
    his.async_lock(second.handler());
    run_for(2h);
    release(std::move(held));
    EXPECT_TRUE(first.well());
    EXPECT_FALSE(second.done());
}

TEST_F(Fair, AnOutageThatAWaiterSurvivesCostsNoPlace) {
    lease held = taken(his);
    said<lease> first, second;
    desk.async_lock(first.handler());
    settle();
    his.async_lock(second.handler());
    run_for(1s);
    alice.always = {.request_lost = true};
    run_for(9s);
    alice.always = {};
    run_for(5s);
    release(std::move(held));
    settle();
    EXPECT_TRUE(first.well());
    EXPECT_FALSE(second.done());
}

TEST_F(Fair, OneThatDiedIsWaitedForNoLongerThanItsTimeout) {
    lease held = taken(his);
    said<lease> dies, next;
    desk.async_lock(dies.handler());
    settle();
    his.async_lock(next.handler());
    settle();
    alice.always = {.request_lost = true}; // as good as dead
    release(std::move(held));
    run_for(29s);
    EXPECT_FALSE(next.done());
    run_for(2s);
    EXPECT_TRUE(next.well());
    alice.always = {};
}

TEST_F(Fair, AJvmThatDiedIsWaitedForItsOwnTime) {
    lease held = taken(his);
    ASSERT_FALSE(queue_stranger(server, "desk", 30s));
    said<lease> next;
    desk.async_lock(next.handler());
    settle();
    release(std::move(held)); // from now on: what it has waited before does not count
    run_for(5min - 1s);
    EXPECT_FALSE(next.done());
    run_for(2s);
    EXPECT_TRUE(next.well());
}

TEST_F(Fair, AJvmHasItsTurn) {
    lease held = taken(his);
    ASSERT_FALSE(queue_stranger(server, "desk", 30s));
    said<lease> next;
    desk.async_lock(next.handler());
    settle();
    release(std::move(held));
    EXPECT_FALSE(next.done());
    EXPECT_TRUE(queue_stranger(server, "desk", 10s));
    run_for(5s);
    EXPECT_TRUE(server.vacate("desk"));
    settle();
    EXPECT_TRUE(next.well());
}

TEST_F(Fair, AnExpiredHoldLetsTheNextIn) {
    lease held = taken(his, lease_time{10s});
    said<lease> next;
    desk.async_lock(next.handler());
    run_for(10s);
    run_for(10ms);
    EXPECT_TRUE(next.well());
}

TEST_F(Fair, AForcedUnlockLetsTheNextIn) {
    const lease held = taken(his);
    said<lease> next;
    desk.async_lock(next.handler());
    settle();
    said<bool> forced;
    his.async_force_unlock(forced.handler());
    settle();
    EXPECT_TRUE(forced.value());
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_TRUE(next.well());
}

TEST_F(Fair, AGrantBesideABelievedHoldPutsThatInDoubt) {
    const lease held = taken(desk);
    said<lease> next;
    desk.async_lock(next.handler());
    settle();
    server.evict("desk");
    run_for(5s);
    EXPECT_TRUE(next.well());
    EXPECT_TRUE(held.lost().stop_requested()) << "two holds of one client are believed";
}

TEST_F(Fair, ReentryIsCountedWhereTheOptionsSaySo) {
    fair_mutex counted{alice, "desk", {.again = recursion::counted}};
    lease outer = taken(counted);
    said<lease> inner, refused;
    counted.async_lock(outer, inner.handler());
    desk.async_lock(outer, refused.handler());
    settle();
    ASSERT_TRUE(inner.well());
    EXPECT_TRUE(refused.failed(errc::already_held));
    EXPECT_EQ(alice.log.size(), 1u);
    release(std::move(outer));
    EXPECT_EQ(held_count(server), 1u);
    release(inner.take());
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Fair, AnotherLockOfThatNameIsExcluded) {
    mutex plain{alice, "desk"};
    const lease held = taken(desk);
    said<std::optional<lease>> tried;
    plain.async_try_lock(tried.handler());
    settle();
    EXPECT_TRUE(tried.well());
    EXPECT_FALSE(tried.value());
}

// Many waiters of one client: they queue at one gate.

class Queueing : public on_stage {
protected:
    actor& alice = enter();
    mutex stock{alice, "stock"};

    void release(lease held) {
        held.async_unlock(said{}.handler());
        settle();
    }
};

TEST_F(Queueing, WaitersAreServedInOrderOfArrival) {
    server.occupy("stock", 1h);
    std::array<said<lease>, 10> all;
    for (auto& each : all) {
        stock.async_lock(each.handler());
        settle();
    }
    server.vacate("stock");
    settle();
    for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_TRUE(all[i].well()) << i;
        EXPECT_TRUE(i + 1 == all.size() || !all[i + 1].done()) << "two hold it at once";
        release(all[i].take());
    }
}

TEST_F(Queueing, OnlyTheFirstOfManyAsksAndListens) {
    server.occupy("stock", 1h);
    std::array<said<lease>, 100> all;
    for (auto& each : all)
        stock.async_lock(each.handler());
    run_for(1s);
    EXPECT_EQ(alice.count(verb::look), 2u);
    EXPECT_EQ(listener_count(server), 1u);
    close(alice);
    settle();
    for (auto& each : all)
        EXPECT_TRUE(each.failed(errc::closed));
}

TEST_F(Queueing, ALocalWaiterIsRungWithoutAskingTheStoreMeanwhile) {
    lease held = taken(stock);
    said<lease> next;
    stock.async_lock(next.handler());
    run_for(9s); // shorter than a renewal
    EXPECT_EQ(alice.log.size(), 1u);
    release(std::move(held));
    EXPECT_TRUE(next.well());
}

TEST_F(Queueing, TwoObjectsOfOneNameAreOneLock) {
    mutex same{alice, "stock"};
    recursive_mutex also{alice, "stock"};
    lease held = taken(stock);
    said<std::optional<lease>> second, third;
    same.async_try_lock(second.handler());
    also.async_try_lock(third.handler());
    settle();
    EXPECT_FALSE(second.value());
    EXPECT_FALSE(third.value());
    EXPECT_EQ(alice.count(verb::look), 1u);
}

TEST_F(Queueing, TwoNamesAreTwoLocks) {
    mutex shelf{alice, "shelf"};
    const lease one = taken(stock), other = taken(shelf);
    EXPECT_TRUE(one.owns_lock() && other.owns_lock());
    EXPECT_EQ(held_count(server), 2u);
}

TEST_F(Queueing, TwoClientsOfOneProcessExcludeEachOther) {
    actor& bob = enter();
    mutex his{bob, "stock"};
    lease held = taken(stock);
    said<lease> waits;
    his.async_lock(waits.handler());
    run_for(1min); // renewed meanwhile
    EXPECT_FALSE(waits.done());
    release(std::move(held));
    EXPECT_TRUE(waits.well());
}

TEST_F(Queueing, ATryWithoutTimeoutDoesNotOvertakeWhoWaits) {
    server.occupy("stock", 1h);
    said<lease> waits;
    stock.async_lock(waits.handler());
    settle();
    const std::size_t asked = alice.log.size();
    said<std::optional<lease>> tried;
    stock.async_try_lock(tried.handler());
    settle();
    EXPECT_FALSE(tried.value());
    EXPECT_EQ(alice.log.size(), asked);
    server.vacate("stock");
    settle();
    EXPECT_TRUE(waits.well());
}

TEST_F(Queueing, WhoTimesOutAtTheHeadLetsTheNextNegotiate) {
    server.occupy("stock", 1h);
    said<std::optional<lease>> impatient;
    said<lease> patient;
    stock.async_try_lock_for(1s, impatient.handler());
    stock.async_lock(patient.handler());
    run_for(1s);
    EXPECT_FALSE(impatient.value());
    EXPECT_EQ(listener_count(server), 1u);
    server.vacate("stock");
    settle();
    EXPECT_TRUE(patient.well());
}

TEST_F(Queueing, WhoTimesOutInTheQueueDisturbsNobody) {
    server.occupy("stock", 1h);
    said<lease> first, third;
    said<std::optional<lease>> second;
    stock.async_lock(first.handler());
    stock.async_try_lock_for(1s, second.handler());
    stock.async_lock(third.handler());
    run_for(999ms);
    const std::size_t asked = alice.log.size();
    run_for(1ms);
    EXPECT_TRUE(second.well());
    EXPECT_FALSE(second.value());
    EXPECT_EQ(alice.log.size(), asked);
    server.vacate("stock");
    settle();
    ASSERT_TRUE(first.well());
    release(first.take());
    EXPECT_TRUE(third.well());
}

TEST_F(Queueing, WhoIsCancelledInTheQueueIsSkipped) {
    server.occupy("stock", 1h);
    asio::cancellation_signal stop;
    said<lease> first, second, third;
    stock.async_lock(first.handler());
    stock.async_lock(asio::bind_cancellation_slot(stop.slot(), second.handler()));
    stock.async_lock(third.handler());
    settle();
    stop.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_TRUE(second.failed(asio::error::operation_aborted));
    server.vacate("stock");
    settle();
    release(first.take());
    EXPECT_TRUE(third.well());
}

TEST_F(Queueing, TheEndOfALostHoldServesTheNext) {
    actor& bob = enter();
    mutex his{bob, "stock", lease_time{1h}};
    lease held = taken(stock, lease_time{10s});
    said<lease> next;
    stock.async_lock(next.handler());
    run_for(10s);
    EXPECT_FALSE(held.owns_lock());
    run_for(5ms);
    EXPECT_TRUE(next.well()) << "a lease that ended keeps its gate";
}

TEST_F(Queueing, NothingIsKeptOfANameThatNobodyUses) {
    release(taken(stock));
    EXPECT_TRUE(is_idle(alice));
}

class Gates : public testing::Test {
protected:
    const std::string stock = "stock", shelf = "shelf";
    const gate_key plain_stock{stock, family::exclusive};
    const gate_key shared_stock{stock, family::shared};
    gates all;
};

TEST_F(Gates, LocksThatExcludeEachOtherHaveOneGate) {
    EXPECT_EQ(family_of(lock_kind::plain), family_of(lock_kind::fenced));
    EXPECT_EQ(family_of(lock_kind::plain), family_of(lock_kind::spin));
    EXPECT_EQ(family_of(lock_kind::read), family_of(lock_kind::write));
    EXPECT_NE(family_of(lock_kind::plain), family_of(lock_kind::fair));
    EXPECT_NE(family_of(lock_kind::plain), family_of(lock_kind::token));
}

TEST_F(Gates, FamiliesOfOneNameAreApart) {
    gate& plain = all.of(plain_stock);
    EXPECT_EQ(all.find(shared_stock), nullptr);
    gate& shared = all.of(shared_stock);
    EXPECT_NE(&plain, &shared);
    EXPECT_EQ(all.find(plain_stock), &plain);
    EXPECT_EQ(all.count(), 2u);
    all.forget(plain_stock);
    EXPECT_EQ(all.find(plain_stock), nullptr);
    EXPECT_EQ(all.find(shared_stock), &shared);
}

TEST_F(Gates, AGateThatWasForgottenIsMadeAnewForAnotherName) {
    all.of(plain_stock).owe_courtesy(true);
    all.forget(plain_stock);
    EXPECT_FALSE(all.of({shelf, family::fair}).owes_courtesy());
    EXPECT_EQ(all.find(plain_stock), nullptr);
    EXPECT_NE(all.find({shelf, family::fair}), nullptr);
}

TEST_F(Gates, WhoElseListensIsKnownForEachFamily) {
    all.note_others(plain_stock, true);
    EXPECT_TRUE(all.others_listen(plain_stock));
    EXPECT_FALSE(all.others_listen(shared_stock));
    all.note_others(plain_stock, false);
    EXPECT_FALSE(all.others_listen(plain_stock));
}

} // namespace
} // namespace holdfast::sync
