// SPDX-License-Identifier: Apache-2.0
// What a client reports, and when.
#include "support/holds.hpp"
#include "unit/sync/stage.hpp"

#include <holdfast/multi_mutex.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

using support::told;

class Observer : public on_stage {
protected:
    actor& alice = enter({.prefix = "shop:", .lease_time = 30s}, 1s);
    mutex stock{alice, "stock"};
    said<lease> held;
    said<std::optional<lease>> tried;

    /// The only report of that kind.
    told the(event_kind kind) const {
        const std::vector<told> all = alice.ear->of(kind);
        EXPECT_EQ(all.size(), 1u);
        return all.empty() ? told{} : all.back();
    }
    static std::uint64_t number_of(const lease& l) {
        return support::wire_hold_of(l).what.owner.number;
    }
};

TEST_F(Observer, AcquiredSaysHowLongItTook) {
    server.occupy("shop:stock", 1h);
    stock.async_lock(held.handler());
    run_for(1500ms);
    server.vacate("shop:stock");
    settle();
    const told report = the(event_kind::acquired);
    EXPECT_EQ(report.name, "shop:stock");
    EXPECT_EQ(report.owner_number, number_of(held.value()));
    EXPECT_EQ(report.length, 1500ms);
    EXPECT_EQ(report.cause, event_cause::none);
    EXPECT_EQ(report.code, errc{});
    EXPECT_EQ(alice.ear->count(event_kind::waited), 0u);
}

TEST_F(Observer, AWaitThatTimedOut) {
    server.occupy("shop:stock", 1h);
    stock.async_try_lock_for(2s, tried.handler());
    run_for(3s);
    const told report = the(event_kind::waited);
    EXPECT_EQ(report.name, "shop:stock");
    EXPECT_EQ(report.cause, event_cause::timed_out);
    EXPECT_EQ(report.length, 2s);
    EXPECT_EQ(report.code, errc{});
}

TEST_F(Observer, AWaitThatWasCancelled) {
    server.occupy("shop:stock", 1h);
    asio::cancellation_signal stop;
    stock.async_lock(asio::bind_cancellation_slot(stop.slot(), held.handler()));
    run_for(2s);
    stop.emit(asio::cancellation_type::total);
    settle();
    const told report = the(event_kind::waited);
    EXPECT_EQ(report.cause, event_cause::cancelled);
    EXPECT_EQ(report.length, 2s);
}

TEST_F(Observer, AWaitThatFailed) {
    alice.always.refused = true;
    stock.async_lock(held.handler());
    run_for(12s);
    const told report = the(event_kind::waited);
    EXPECT_EQ(report.cause, event_cause::failed);
    EXPECT_EQ(report.code, errc::unreachable);
    EXPECT_GE(report.length, 10s);
    EXPECT_FALSE(report.text.empty());
}

TEST_F(Observer, AWaitThatEndedWithTheClient) {
    server.occupy("shop:stock", 1h);
    stock.async_lock(held.handler());
    run_for(2s);
    close(alice);
    settle();
    const told report = the(event_kind::waited);
    EXPECT_EQ(report.cause, event_cause::closed);
    EXPECT_EQ(report.code, errc::closed);
}

TEST_F(Observer, ReleasedSaysHowLongItWasHeld) {
    lease mine = taken(stock);
    const std::uint64_t number = number_of(mine);
    run_for(7s);
    mine.async_unlock(said{}.handler());
    settle();
    const told report = the(event_kind::released);
    EXPECT_EQ(report.name, "shop:stock");
    EXPECT_EQ(report.owner_number, number);
    EXPECT_EQ(report.length, 7s);
}

TEST_F(Observer, ALossBecauseTheStoreSaysSo) {
    const lease mine = taken(stock);
    server.evict("shop:stock");
    run_for(10s);
    const told report = the(event_kind::lost);
    EXPECT_EQ(report.cause, event_cause::refused);
    EXPECT_EQ(report.owner_number, number_of(mine));
    EXPECT_EQ(report.length, 10s);
}

TEST_F(Observer, ALossBecauseTheTermEnded) {
    const lease mine = taken(stock);
    alice.always.refused = true;
    run_for(1min);
    const told report = the(event_kind::lost);
    EXPECT_EQ(report.cause, event_cause::term_ended);
    EXPECT_EQ(report.length, 30s - 302ms);
}

TEST_F(Observer, ALossThatThisClientForced) {
    const lease mine = taken(stock);
    said<bool> forced;
    run_for(2s);
    stock.async_force_unlock(forced.handler());
    settle();
    const told report = the(event_kind::lost);
    EXPECT_EQ(report.cause, event_cause::forced);
    EXPECT_EQ(report.length, 2s);
}

TEST_F(Observer, ALossByClosing) {
    const lease mine = taken(stock);
    run_for(2s);
    close(alice);
    run_for(1h);
    const told report = the(event_kind::lost);
    EXPECT_EQ(report.cause, event_cause::closed);
    EXPECT_EQ(report.length, 2s);
}

TEST_F(Observer, AHoldThatIsReleasedAfterItsLossIsNotReportedAgain) {
    actor& bob = enter({.close_timeout = 1s, .release_on_close = true}, 1s);
    mutex his{bob, "shelf"};
    const lease released_by_close = taken(his);
    lease released_by_owner = taken(stock);
    close(bob);
    alice.always.refused = true;
    run_for(1min);
    alice.always.refused = false;
    released_by_owner.async_unlock(said{}.handler());
    run_for(1h);
    EXPECT_EQ(held_count(server), 0U);
    for (const actor* const each : {&alice, &bob}) {
        EXPECT_EQ(each->ear->count(event_kind::lost), 1U);
        EXPECT_EQ(each->ear->count(event_kind::released), 0U);
        EXPECT_EQ(each->ear->count(event_kind::release_failed), 0U);
    }
}

TEST_F(Observer, NoEventOfAHoldFollowsItsLossByClosing) {
    actor& bob = enter({.close_timeout = 1min}, 1s);
    mutex his{bob, "shelf"};
    const lease mine = taken(his);
    close(bob);
    bob.always.refused = true;
    run_for(15s); // renewals fail while close() waits for the holder
    mine.hold()->thread_ended();
    mine.hold()->abandon();
    run_for(2min);
    EXPECT_EQ(bob.ear->count(event_kind::lost), 1U);
    EXPECT_EQ(bob.ear->all().back().kind, event_kind::lost);
}

TEST_F(Observer, LossOfAMemberThatTheReleaseFindsOut) {
    mutex shelf{alice, "shelf"};
    multi_mutex both{stock, shelf};
    lease mine = taken(both);
    server.evict("shop:shelf");
    mine.async_unlock(said{}.handler());
    settle();
    for (const told& report : alice.ear->of(event_kind::lost))
        EXPECT_EQ(report.cause, event_cause::refused) << report;
    EXPECT_EQ(alice.ear->count(event_kind::lost), 2U) << "the member and the whole";
}

TEST_F(Observer, FailedReleaseOfSeveralLocksReportsItsError) {
    mutex shelf{alice, "shelf"};
    multi_mutex both{stock, shelf};
    lease mine = taken(both);
    alice.always.denied = true;
    mine.async_unlock(said{}.handler());
    settle();
    for (const told& report : alice.ear->of(event_kind::release_failed)) {
        EXPECT_EQ(report.cause, event_cause::failed) << report;
        EXPECT_EQ(report.code, errc::refused) << report;
    }
    EXPECT_EQ(alice.ear->count(event_kind::release_failed), 3U) << "each member and the whole";
    alice.always = {};
}

TEST_F(Observer, ALossThatTheReleaseFindsOut) {
    lease mine = taken(stock);
    server.evict("shop:stock");
    run_for(2s);
    mine.async_unlock(said{}.handler());
    settle();
    const told report = the(event_kind::lost);
    EXPECT_EQ(report.cause, event_cause::refused);
    EXPECT_EQ(alice.ear->count(event_kind::released), 0u);
}

TEST_F(Observer, FailedRenewalsAndTheDangerTheyBring) {
    const lease mine = taken(stock);
    alice.always.refused = true;
    run_for(11s);
    const std::vector<told> failures = alice.ear->of(event_kind::renewal_failed);
    ASSERT_EQ(failures.size(), 2u);
    EXPECT_EQ(failures[0].cause, event_cause::failed);
    EXPECT_EQ(failures[0].code, errc::unreachable);
    EXPECT_EQ(failures[0].owner_number, number_of(mine));
    EXPECT_EQ(failures[0].length, 30s - 302ms - 10s);
    EXPECT_EQ(failures[1].length, 30s - 302ms - 11s);

    run_for(10s);
    const told danger = the(event_kind::in_danger);
    EXPECT_EQ(danger.length, 10s);
    EXPECT_EQ(danger.owner_number, number_of(mine));
}

TEST_F(Observer, AReleaseThatIsGivenUp) {
    lease mine = taken(stock);
    const std::uint64_t number = number_of(mine);
    alice.always.refused = true;
    mine.async_unlock(said{}.handler());
    run_for(1h);
    const told report = the(event_kind::release_failed);
    EXPECT_EQ(report.owner_number, number);
    EXPECT_EQ(report.code, errc::unreachable);
    EXPECT_FALSE(report.text.empty());
    EXPECT_EQ(alice.ear->count(event_kind::released), 0u);
}

TEST_F(Observer, HearsOfEachHoldOnce) {
    for (int i = 0; i < 5; ++i) {
        taken(stock).async_unlock(said{}.handler());
        settle();
    }
    EXPECT_EQ(alice.ear->count(event_kind::acquired), 5u);
    EXPECT_EQ(alice.ear->count(event_kind::released), 5u);
    EXPECT_EQ(alice.ear->all().size(), 10u);
}

TEST_F(Observer, AWaitIsReportedWhenItBeginsAndOnceWhenItEnds) {
    server.occupy("shop:stock", 1h);
    said<lease> behind;
    stock.async_lock(held.handler());
    stock.async_lock(behind.handler()); // waits in the queue of this client
    run_for(1500ms);
    const std::vector<told> begun = alice.ear->of(event_kind::waiting);
    ASSERT_EQ(begun.size(), 2u);
    EXPECT_EQ(begun[0].name, "shop:stock");
    EXPECT_EQ(begun[0].held_change, 0);
    EXPECT_EQ(begun[0].length, 0ms);
    EXPECT_NE(begun[0].call_number, 0u);
    EXPECT_NE(begun[0].call_number, begun[1].call_number);

    server.vacate("shop:stock");
    settle();
    const told granted = the(event_kind::acquired);
    close(alice);
    settle();
    const told ended = the(event_kind::waited);
    const std::set<std::uint64_t> calls{begun[0].call_number, begun[1].call_number};
    EXPECT_EQ((std::set{granted.call_number, ended.call_number}), calls);
    EXPECT_EQ(alice.ear->count(event_kind::waiting), 2u);
}

TEST_F(Observer, ACallThatMayNotWaitOrNeedNotWaitReportsNoWait) {
    lease mine = taken(stock);
    stock.async_try_lock(tried.handler());
    settle();
    ASSERT_TRUE(tried.well());
    EXPECT_EQ(alice.ear->count(event_kind::waited), 1u);
    EXPECT_EQ(alice.ear->count(event_kind::waiting), 0u);
}

TEST_F(Observer, EveryEventOfAHoldHasTheNumberOfItsCall) {
    lease first = taken(stock);
    stock.async_lock(held.handler());
    settle();
    first.async_unlock(said{}.handler()); // handed on to the second call
    settle();
    held.take().async_unlock(said{}.handler());
    settle();
    const std::vector<told> begun = alice.ear->of(event_kind::acquired);
    const std::vector<told> ended = alice.ear->of(event_kind::released);
    ASSERT_EQ(begun.size(), 2u);
    ASSERT_EQ(ended.size(), 2u);
    for (std::size_t each : {0u, 1u}) {
        EXPECT_EQ(begun[each].call_number, ended[each].call_number);
        EXPECT_EQ(begun[each].held_change, 1);
        EXPECT_EQ(ended[each].held_change, -1);
    }
    EXPECT_NE(begun[0].call_number, begun[1].call_number);
}

TEST_F(Observer, ReadersThatShareAHoldJoinIt) {
    shared_mutex prices{alice, "prices"};
    lease first = taken(prices.shared()), second = taken(prices.shared());
    const told joined = the(event_kind::joined);
    EXPECT_EQ(joined.name, "shop:prices");
    EXPECT_EQ(joined.owner_number, the(event_kind::acquired).owner_number);
    EXPECT_NE(joined.call_number, the(event_kind::acquired).call_number);
    EXPECT_EQ(joined.held_change, 0);
    first.async_unlock(said{}.handler());
    second.async_unlock(said{}.handler());
    settle();
    EXPECT_EQ(the(event_kind::released).held_change, -1);
}

TEST_F(Observer, ALockOnSeveralLocksCountsBesideItsMembers) {
    mutex shelf{alice, "shelf"};
    multi_mutex both{stock, shelf};
    server.occupy("shop:shelf", 5s);
    said<lease> all;
    both.async_lock(all.handler());
    run_for(1min);
    ASSERT_TRUE(all.well());
    all.take().async_unlock(said{}.handler());
    settle();
    int holds = 0, most = 0;
    std::map<std::uint64_t, int> waits;
    for (const told& each : alice.ear->all()) {
        most = std::max(most, holds += each.held_change);
        if (each.kind == event_kind::waiting) {
            EXPECT_EQ(++waits[each.call_number], 1) << each;
        }
        if (each.kind == event_kind::acquired || each.kind == event_kind::waited)
            waits.erase(each.call_number);
    }
    EXPECT_EQ(most, 3);
    EXPECT_EQ(holds, 0);
    EXPECT_TRUE(waits.empty());
    const auto whole = alice.ear->of(event_kind::released).back();
    EXPECT_EQ(whole.name, "shop:stock + shop:shelf");
    EXPECT_NE(whole.call_number, 0u);
}

TEST_F(Observer, IsToldTheServersOwnWords) {
    alice.meddling.objects = [](verb) { return make_error_code(store_errc::wrong_type); };
    stock.async_lock(held.handler());
    settle();
    const told report = the(event_kind::waited);
    EXPECT_EQ(report.code, errc::refused);
    EXPECT_THAT(report.text, testing::HasSubstr("the server's own words"));
}

// A user's handler throws, on an executor whose owner catches exceptions and continues. The
// exception leaves the executor's run(), as usual in Asio, and the library continues to work.

class ThrowingHandler : public on_stage {
protected:
    actor& alice = enter({.release_timeout = 3s, .close_timeout = 5s}, 1s);
    mutex stock{alice, "stock"};
    said<> released;

    /// Throws what our own code catches, too.
    static auto throwing() {
        return [](const error_code&, auto...) {
            throw boost::system::system_error{make_error_code(errc::unreachable), "the user's"};
        };
    }

    /// How many came out meanwhile.
    int run_on(duration length) {
        const time_point end = clock.now() + length;
        for (int thrown = 0;; ++thrown)
            try {
                clock.run_until(end);
                return thrown;
            } catch (const boost::system::system_error&) {
            }
    }
};

TEST_F(ThrowingHandler, OfAnAcquisitionLeavesTheLockFree) {
    alice.planned.emplace_back(verb::look, fate{.answer_delay = 10ms});
    stock.async_lock(throwing());
    EXPECT_EQ(run_on(10ms), 1);
    EXPECT_EQ(held_count(server), 0u) << "its lease ended with it";
    EXPECT_TRUE(is_idle(alice));
    EXPECT_TRUE(taken(stock).owns_lock());
}

TEST_F(ThrowingHandler, OfAFailedAcquisitionLetsTheNextTryItsLuck) {
    said<lease> next;
    server.occupy("stock", 1h);
    stock.async_lock(throwing());
    stock.async_lock(next.handler());
    run_for(1s);
    alice.meddling.objects = [](verb) { return make_error_code(store_errc::no_permission); };
    server.vacate("stock");
    EXPECT_EQ(run_on(0ms), 1);
    EXPECT_TRUE(next.failed(errc::refused));
}

TEST_F(ThrowingHandler, OfWhoseTimeIsOverLeavesTheOthersTheirDeadlines) {
    const lease held = taken(stock);
    said<std::optional<lease>> same_time, later, begun_after;
    stock.async_try_lock_for(1s, throwing());
    stock.async_try_lock_for(1s, same_time.handler());
    stock.async_try_lock_for(2s, later.handler());
    EXPECT_EQ(run_on(1s), 1);
    EXPECT_TRUE(same_time.well());
    stock.async_try_lock_for(500ms, begun_after.handler());
    EXPECT_EQ(run_on(500ms), 0);
    EXPECT_TRUE(begun_after.well());
    EXPECT_EQ(run_on(500ms), 0);
    EXPECT_TRUE(later.well());
}

TEST_F(ThrowingHandler, OfWhoInheritsLetsTheUnlockReturnAndTheLockGo) {
    lease held = taken(stock);
    said<lease> next;
    stock.async_lock(throwing());
    stock.async_lock(next.handler());
    held.async_unlock(released.handler());
    EXPECT_EQ(run_on(0ms), 1);
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(next.well());
}

TEST_F(ThrowingHandler, OfAReleaseComesOutAndIsNoFailureOfTheRelease) {
    taken(stock).async_unlock(throwing());
    EXPECT_EQ(run_on(1s), 1);
    EXPECT_EQ(alice.count(verb::release), 1u);
    EXPECT_EQ(alice.ear->count(event_kind::release_failed), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(ThrowingHandler, OfAReleaseThatFailsDoesNotEndItsRepeating) {
    lease held = taken(stock);
    alice.always.refused = true;
    held.async_unlock(throwing());
    EXPECT_EQ(run_on(4s), 1);
    alice.always.refused = false;
    EXPECT_EQ(run_on(1s), 0);
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(ThrowingHandler, OfAnExtensionComesOutOnce) {
    lease held = taken(stock);
    held.async_extend(lease_time{1min}, throwing());
    EXPECT_EQ(run_on(1s), 1);
    EXPECT_TRUE(held.owns_lock());
    server.evict("stock");
    EXPECT_EQ(run_on(1min), 0);
    held.async_extend(lease_time{1min}, throwing()); // refused before anything is sent
    EXPECT_EQ(run_on(1s), 1);
}

TEST_F(ThrowingHandler, OfAWaiterDoesNotKeepTheClientFromClosing) {
    server.occupy("stock", 1h);
    said<lease> other;
    stock.async_lock(throwing());
    stock.async_lock(throwing());
    stock.async_lock(other.handler());
    run_for(1s);
    const said<> closed = close(alice);
    EXPECT_EQ(run_on(0ms), 2);
    EXPECT_TRUE(other.failed(errc::closed));
    EXPECT_TRUE(closed.well());
}

TEST_F(ThrowingHandler, OfACloseDoesNotKeepTheOthersFromHearing) {
    lease held = taken(stock);
    alice.program->async_close(throwing());
    const said<> closed = close(alice);
    run_for(1s);
    held.async_unlock(released.handler());
    EXPECT_EQ(run_on(0ms), 1);
    EXPECT_TRUE(closed.well());
    alice.program->async_close(throwing()); // of what is closed already
    EXPECT_EQ(run_on(0ms), 1);
}

TEST_F(ThrowingHandler, OfAReleaseDoesNotKeepAClosingClientFromReleasingTheRest) {
    actor& bob = enter({.close_timeout = 1s, .release_on_close = true}, 1s);
    mutex his{bob, "shelf"}, other{bob, "attic"};
    lease first = taken(his);
    const lease second = taken(other);
    const said<> closed = close(bob);
    first.async_unlock(throwing());
    EXPECT_EQ(run_on(1s), 1);
    EXPECT_TRUE(closed.well());
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(ThrowingHandler, OfWhoIsCancelledLeavesNothing) {
    server.occupy("stock", 1h);
    asio::cancellation_signal stop;
    stock.async_lock(asio::bind_cancellation_slot(stop.slot(), throwing()));
    run_for(1s);
    stop.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(run_on(1s), 1);
    EXPECT_TRUE(is_idle(alice));
    EXPECT_EQ(listener_count(server), 0u);
}

} // namespace
} // namespace holdfast::sync
