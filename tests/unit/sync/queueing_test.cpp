// SPDX-License-Identifier: Apache-2.0
// Many waiters of one client: they queue at one gate.
#include "unit/sync/stage.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <array>

namespace holdfast::sync {
namespace {

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
    EXPECT_EQ(server.listener_count(), 1u);
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
    EXPECT_EQ(server.held_count(), 2u);
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

TEST_F(Queueing, ATryWithoutPatienceDoesNotOvertakeWhoWaits) {
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
    EXPECT_EQ(server.listener_count(), 1u);
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

} // namespace
} // namespace holdfast::sync
