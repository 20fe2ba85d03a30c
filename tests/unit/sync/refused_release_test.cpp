// SPDX-License-Identifier: Apache-2.0
// A release that fails for whatever reason is repeated until it is acknowledged or the store has
// forgotten the hold.
#include "sync/outage.hpp"
#include "unit/sync/stage.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

namespace holdfast::sync {
namespace {

class RefusedRelease : public on_stage {
protected:
    actor& alice = enter({.release_patience = 3s, .close_patience = 5s}, 1s);
    mutex stock{alice, "stock"};
    said<> released;
    std::size_t refusals = 0;

    void object(error_code why) {
        alice.meddling.objects = [this, why](verb what) {
            refusals += what == verb::release;
            return what == verb::release ? why : error_code{};
        };
    }
    void allow() { alice.meddling.objects = nullptr; }
    std::size_t failures_told() const { return alice.ear->count(event_kind::release_failed); }
};

TEST_F(RefusedRelease, AShortageOfRoomIsNotSeenByItsCaller) {
    lease held = taken(stock);
    object(make_error_code(errc::overloaded));
    held.async_unlock(released.handler());
    run_for(1s);
    EXPECT_FALSE(released.done());
    allow();
    run_for(1s);
    EXPECT_TRUE(released.well());
    EXPECT_EQ(server.held_count(), 0u);
    EXPECT_EQ(failures_told(), 0u);
}

TEST_F(RefusedRelease, ALongShortageIsToldAfterPatienceAndTheReleaseIsRepeatedBehindIt) {
    for (const error_code why :
         {make_error_code(errc::overloaded), make_error_code(store_errc::not_authenticated),
          make_error_code(store_errc::untrusted), make_error_code(store_errc::out_of_memory)}) {
        SCOPED_TRACE(why.message());
        said<> told;
        alice.ear->clear();
        lease held = taken(stock);
        object(why);
        held.async_unlock(told.handler());
        run_for(3s - 1ms);
        EXPECT_FALSE(told.done());
        run_for(1s);
        EXPECT_TRUE(told.failed(why));
        EXPECT_EQ(failures_told(), 0u) << "it has not ended yet";
        allow();
        run_for(1s);
        EXPECT_EQ(server.held_count(), 0u);
        EXPECT_EQ(alice.ear->count(event_kind::released), 1u);
    }
}

TEST_F(RefusedRelease, TheServersNoIsToldAtOnceAndTheRightMayComeBack) {
    lease held = taken(stock);
    object(make_error_code(store_errc::no_permission));
    held.async_unlock(released.handler());
    settle();
    EXPECT_TRUE(released.failed(errc::refused));
    EXPECT_EQ(failures_told(), 1u);
    run_for(12s);
    EXPECT_EQ(failures_told(), 1u) << "once is enough";
    EXPECT_GE(refusals, 3u);
    EXPECT_LE(refusals, 1 + 12s / (pauses::after_a_no / 2))
        << "it asks as often as if nobody answered";
    EXPECT_EQ(server.held_count(), 1u);
    allow();
    run_for(pauses::after_a_no);
    EXPECT_EQ(server.held_count(), 0u);
    EXPECT_EQ(failures_told(), 1u);
    EXPECT_TRUE(is_idle(alice));
    EXPECT_EQ(alice.ear->count(event_kind::released), 0u) << "its end was told";
}

TEST_F(RefusedRelease, ItEndsWhenTheStoreHasForgottenTheHold) {
    for (const error_code why :
         {make_error_code(errc::overloaded), make_error_code(store_errc::wrong_type)}) {
        alice.ear->clear();
        said<> told;
        lease held = taken(stock, lease_time{10s});
        object(why);
        held.async_unlock(told.handler());
        run_for(10s + 200ms);
        EXPECT_TRUE(told.failed(why));
        EXPECT_EQ(failures_told(), 1u);
        EXPECT_TRUE(is_idle(alice));
        refusals = 0;
        run_for(1min);
        EXPECT_EQ(refusals, 0u);
        allow();
    }
}

TEST_F(RefusedRelease, ClosingWaitsForRoomButNotForTheServersNo) {
    lease held = taken(stock);
    object(make_error_code(store_errc::no_permission));
    held.async_unlock(released.handler());
    settle();
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(closed.well());
    refusals = 0;
    run_for(1h);
    EXPECT_EQ(refusals, 0u);

    actor& bob = enter({.close_patience = 5s}, 1s);
    mutex his{bob, "shelf"};
    lease mine = taken(his);
    bob.meddling.objects = [](verb) { return make_error_code(errc::overloaded); };
    mine.async_unlock(said{}.handler());
    const said<> closing = close(bob);
    run_for(1s);
    EXPECT_FALSE(closing.done());
    bob.meddling.objects = nullptr;
    run_for(1s);
    EXPECT_TRUE(closing.well());
    EXPECT_FALSE(server.inspect("shelf"));
}

class RefusedUndo : public RefusedRelease {
protected:
    asio::cancellation_signal stop;
    said<lease> wanted;

    /// Granted when nobody wants it any more.
    void cancel_before_the_answer() {
        alice.planned.emplace_back(verb::look, fate{.answer_delay = 100ms});
        stock.async_lock(asio::bind_cancellation_slot(stop.slot(), wanted.handler()));
        run_for(50ms);
        stop.emit(asio::cancellation_type::terminal);
        run_for(50ms);
        EXPECT_TRUE(wanted.failed(asio::error::operation_aborted));
    }
};

TEST_F(RefusedUndo, IsRepeatedWhenThereIsRoomAgain) {
    object(make_error_code(errc::overloaded));
    cancel_before_the_answer();
    run_for(5s);
    EXPECT_EQ(server.held_count(), 1u);
    EXPECT_GE(refusals, 5u);
    allow();
    run_for(pauses::after_silence.longest);
    EXPECT_EQ(server.held_count(), 0u);
    EXPECT_EQ(alice.meddling.places_left, 1);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(RefusedUndo, IsRepeatedWhenTheRightIsGrantedAgain) {
    object(make_error_code(store_errc::no_permission));
    cancel_before_the_answer();
    run_for(1s);
    EXPECT_EQ(server.held_count(), 1u);
    EXPECT_EQ(refusals, 1u);
    allow();
    run_for(pauses::after_a_no);
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(RefusedUndo, EndsWhenNothingCanBeLeft) {
    object(make_error_code(errc::overloaded));
    cancel_before_the_answer();
    run_for(1min);
    EXPECT_TRUE(is_idle(alice));
    refusals = 0;
    run_for(1min);
    EXPECT_EQ(refusals, 0u);
}

TEST_F(RefusedUndo, APlaceInAStoresQueueIsLeftThoughItWasOnlyBusy) {
    alice.meddling.keeps_queues = true;
    server.occupy("stock", 1h);
    stock.async_lock(asio::bind_cancellation_slot(stop.slot(), wanted.handler()));
    run_for(1s);
    object(make_error_code(errc::unreachable));
    stop.emit(asio::cancellation_type::terminal);
    run_for(1s);
    EXPECT_EQ(alice.meddling.places_left, 0);
    allow();
    run_for(1s);
    EXPECT_EQ(alice.meddling.places_left, 1);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(RefusedUndo, APlaceThatWasUncertainIsLeftOnceMoreWhenItIsSettled) {
    alice.planned.emplace_back(verb::look, fate{.request_lost = true});
    stock.async_lock(asio::bind_cancellation_slot(stop.slot(), wanted.handler()));
    run_for(100ms);
    stop.emit(asio::cancellation_type::terminal);
    run_for(1min);
    EXPECT_EQ(alice.meddling.places_left, 2);
    EXPECT_EQ(alice.count(verb::release), 2u);
}

} // namespace
} // namespace holdfast::sync
