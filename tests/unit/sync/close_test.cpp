// SPDX-License-Identifier: Apache-2.0
// client::close in every state that a client can be in.
#include "unit/sync/stage.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

namespace holdfast::sync {
namespace {

class Close : public on_stage {
protected:
    actor& alice = enter({.release_patience = 3s, .close_patience = 5s}, 1s);
    mutex stock{alice, "stock"};
    said<lease> held;
    said<> released;
};

TEST_F(Close, OfAnIdleClientTakesNoTime) {
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, AgainIsFineBeforeAndAfterTheFirstIsDone) {
    lease mine = taken(stock);
    const said<> first = close(alice), second = close(alice);
    run_for(1s);
    EXPECT_FALSE(first.done() || second.done());
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(first.well() && second.well());
    const said<> third = close(alice);
    settle();
    EXPECT_TRUE(third.well());
}

TEST_F(Close, FailsWhoeverWaits) {
    server.occupy("stock", 1h);
    said<std::optional<lease>> timed;
    said<lease> queued;
    stock.async_lock(held.handler());
    stock.async_try_lock_for(1h, timed.handler());
    stock.async_lock(queued.handler());
    run_for(1s);
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(held.failed(errc::closed));
    EXPECT_TRUE(timed.failed(errc::closed));
    EXPECT_TRUE(queued.failed(errc::closed));
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(server.listener_count(), 0u);
}

TEST_F(Close, AfterwardsEveryVerbSaysSoAndSendsNothing) {
    close(alice);
    settle();
    alice.log.clear();
    said<std::optional<lease>> tried;
    said<bool> locked, forced;
    said<std::optional<duration>> remaining;
    stock.async_lock(held.handler());
    stock.async_try_lock(tried.handler());
    stock.async_is_locked(locked.handler());
    stock.async_remaining_lease(remaining.handler());
    stock.async_force_unlock(forced.handler());
    settle();
    EXPECT_TRUE(held.failed(errc::closed));
    EXPECT_TRUE(tried.failed(errc::closed));
    EXPECT_TRUE(locked.failed(errc::closed));
    EXPECT_TRUE(remaining.failed(errc::closed));
    EXPECT_TRUE(forced.failed(errc::closed));
    EXPECT_TRUE(alice.log.empty());
}

TEST_F(Close, WhileItLastsNothingNewBegins) {
    const lease mine = taken(stock);
    close(alice);
    settle();
    stock.async_lock(held.handler());
    settle();
    EXPECT_TRUE(held.failed(errc::closed));
}

TEST_F(Close, TellsHoldersAtOnceAndLetsThemRelease) {
    lease mine = taken(stock);
    const std::stop_token lost = mine.lost();
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_TRUE(mine.in_danger().stop_requested());
    EXPECT_FALSE(mine.owns_lock());
    EXPECT_FALSE(closed.done());
    run_for(4s);
    EXPECT_EQ(server.held_count(), 1u) << "it was released from under its holder";
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(Close, WaitsForNobodyLongerThanItsPatience) {
    lease mine = taken(stock);
    const said<> closed = close(alice);
    run_for(5s - 1ms);
    EXPECT_FALSE(closed.done());
    run_for(1ms);
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(server.held_count(), 1u);
    run_for(30s);
    EXPECT_EQ(server.held_count(), 0u) << "it is still renewed";
}

TEST_F(Close, AReleaseAfterItFailsAndSpinsNot) {
    lease mine = taken(stock);
    close(alice);
    run_for(5s);
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.failed(errc::closed));
    run_for(1h);
    EXPECT_EQ(alice.count(verb::release), 0u);
}

TEST_F(Close, ALeaseThatIsDestroyedAfterItDoesNoHarm) {
    {
        const lease mine = taken(stock);
        close(alice);
        run_for(5s);
    }
    settle();
}

TEST_F(Close, KeepsRenewingWhileHoldersStillWork) {
    actor& bob = enter({.lease_time = 3s, .close_patience = 20s});
    mutex his{bob, "shelf"};
    lease mine = taken(his);
    const said<> closed = close(bob);
    run_for(19s);
    EXPECT_TRUE(server.inspect("shelf")) << "its lease ended although there was patience";
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, AHoldIsToldLostOnceThoughItsTermEndsBeforeTheCloseDoes) {
    actor& bob = enter({.lease_time = 3s, .max_hold = 5s, .close_patience = 20s});
    mutex his{bob, "shelf"};
    const lease mine = taken(his);
    close(bob);
    run_for(19s);
    ASSERT_EQ(bob.ear->count(event_kind::lost), 1u);
    EXPECT_EQ(bob.ear->last(event_kind::lost)->cause, event_cause::closed);
    EXPECT_EQ(bob.ear->count(event_kind::in_danger), 0u) << "of what is lost already";
}

TEST_F(Close, AHoldIsToldLostOnceThoughItsReleaseFindsItGone) {
    lease mine = taken(stock);
    close(alice);
    settle();
    server.evict("stock");
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.failed(errc::lease_lost));
    EXPECT_EQ(alice.ear->count(event_kind::lost), 1u);
}

TEST_F(Close, ReleasesEverythingWhereThatIsAskedFor) {
    actor& bob = enter({.close_patience = 5s, .release_on_close = true});
    recursive_mutex his{bob, "shelf"};
    lease outer = taken(his);
    said<lease> inner;
    his.async_lock(outer, inner.handler());
    settle();
    const said<> closed = close(bob);
    run_for(5s - 1ms);
    EXPECT_EQ(server.held_count(), 1u);
    run_for(1ms);
    EXPECT_EQ(server.held_count(), 0u);
    EXPECT_TRUE(closed.well());
    outer.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.done());
    EXPECT_TRUE(released.code()) << "it was released before";
}

TEST_F(Close, DoesNotWaitForAStoreThatIsAway) {
    actor& bob =
        enter({.release_patience = 3s, .close_patience = 5s, .release_on_close = true}, 1s);
    mutex his{bob, "shelf"};
    const lease mine = taken(his);
    bob.always = fate{.request_lost = true};
    const said<> closed = close(bob);
    run_for(5s + 3s);
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, EndsAReleaseThatIsRepeatedInTheBackground) {
    lease mine = taken(stock);
    alice.always.refused = true;
    mine.async_unlock(released.handler());
    run_for(1s);
    const said<> closed = close(alice);
    run_for(5s);
    EXPECT_TRUE(closed.well());
    EXPECT_TRUE(released.done());
    alice.log.clear();
    run_for(1h);
    EXPECT_TRUE(alice.log.empty());
    EXPECT_EQ(left_in(alice).tasks, 0u);
}

TEST_F(Close, CompletesWhenWhatWasUnderWayHasEnded) {
    lease mine = taken(stock);
    alice.always.request_lost = true;
    mine.async_unlock(released.handler());
    run_for(100ms);
    std::optional<std::size_t> under_way;
    alice.program->async_close([&](error_code) { under_way = left_in(alice).tasks; });
    run_for(5s);
    EXPECT_EQ(under_way, 0u) << "it may still use the clock and the executor";
}

TEST_F(Close, GivesAReleaseUnderWayTheTimeToEnd) {
    lease mine = taken(stock);
    alice.always.refused = true;
    mine.async_unlock(released.handler());
    run_for(1s);
    const said<> closed = close(alice);
    run_for(1s);
    EXPECT_FALSE(closed.done());
    alice.always.refused = false;
    run_for(1s);
    EXPECT_TRUE(closed.well());
    EXPECT_TRUE(released.well());
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(Close, WhileALookIsUnderWayLeavesNothingBehind) {
    for (const duration moment : {50ms, 150ms}) { // not executed yet; executed and not answered
        actor& bob = enter({}, 1s);
        mutex his{bob, "stock"};
        said<lease> wanted;
        bob.always = fate{.request_delay = 100ms, .answer_delay = 100ms};
        his.async_lock(wanted.handler());
        run_for(moment);
        const said<> closed = close(bob);
        settle();
        EXPECT_TRUE(wanted.failed(errc::closed));
        run_for(2s);
        EXPECT_TRUE(closed.well());
        EXPECT_EQ(server.held_count(), 0u) << "what was granted meanwhile blocks the others";
        server.evict("stock");
    }
}

TEST_F(Close, WhileAnAttemptIsUndoneWaitsForThat) {
    asio::cancellation_signal stop;
    alice.always.answer_delay = 100ms;
    stock.async_lock(asio::bind_cancellation_slot(stop.slot(), held.handler()));
    run_for(50ms);
    stop.emit(asio::cancellation_type::total);
    run_for(60ms); // granted, and its release is under way
    const said<> closed = close(alice);
    run_for(1s);
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(Close, WhileARenewalIsUnderWay) {
    const lease mine = taken(stock);
    alice.always.answer_delay = 900ms;
    run_for(10s + 10ms);
    const said<> closed = close(alice);
    run_for(5s);
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, WhileALeaseIsExtended) {
    lease mine = taken(stock);
    alice.always.answer_delay = 900ms;
    said<> extended;
    mine.async_extend(lease_time{1min}, extended.handler());
    run_for(10ms);
    const said<> closed = close(alice);
    run_for(6s);
    EXPECT_TRUE(extended.done());
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, FromInsideALossCallback) {
    const lease mine = taken(stock);
    said<> closed;
    const std::stop_callback on_loss{mine.lost(),
                                     [&] { alice.program->async_close(closed.handler()); }};
    server.evict("stock");
    run_for(10s);
    EXPECT_TRUE(closed.well());
}

TEST_F(Close, AReleaseInsideTheLossThatItCauses) {
    lease mine = taken(stock);
    const std::stop_callback on_loss{mine.lost(), [&] { mine.async_unlock(released.handler()); }};
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(Close, ADestroyedClientClosesInTheBackground) {
    lease mine = taken(stock);
    server.occupy("shelf", 1h);
    mutex shelf{alice, "shelf"};
    shelf.async_lock(held.handler());
    run_for(1s);
    alice.program.reset();
    settle();
    EXPECT_TRUE(held.failed(errc::closed));
    EXPECT_TRUE(mine.lost().stop_requested());
    mine.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.well());
}

TEST_F(Close, AMovedClientIsTheSameClient) {
    client moved{std::move(*alice.program)};
    const lease mine = taken(stock);
    EXPECT_TRUE(mine.owns_lock());
    *alice.program = std::move(moved);
    EXPECT_TRUE(mine.owns_lock());
}

TEST_F(Close, AssigningToAClientClosesWhatItWas) {
    actor& bob = enter();
    const lease mine = taken(stock);
    *alice.program = std::move(*bob.program);
    run_for(5s);
    EXPECT_TRUE(mine.lost().stop_requested());
    mutex his{*alice.program, "shelf"};
    EXPECT_TRUE(taken(his).owns_lock());
}

} // namespace
} // namespace holdfast::sync
