// SPDX-License-Identifier: Apache-2.0
// Several locks taken as one: a call takes all of them or none, never waits while it holds one, and
// loses the whole hold when one lock is lost.
#include "sync/retry_policy.hpp"
#include "unit/sync/stage.hpp"

#include <holdfast/fenced_mutex.hpp>
#include <holdfast/multi_mutex.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Members of one client.
class Multi : public on_stage {
protected:
    actor& alice = enter({}, 1s);
    actor& bob = enter({}, 1s);
    mutex a{alice, "a"}, b{alice, "b"}, c{alice, "c"};
    multi_mutex all{a, b, c};
    said<lease> held;

    bool is_free(const char* name) const { return !inspect(server, name); }

    /// Returns the cause of the single event `lost` about that name.
    static event_cause cause_of_loss(const actor& of, const std::string& name) {
        std::vector<support::told> losses = of.ear->of(event_kind::lost);
        std::erase_if(losses, [&name](const support::told& each) { return each.name != name; });
        EXPECT_EQ(losses.size(), 1u) << name;
        return losses.empty() ? event_cause::none : losses.back().cause;
    }
};

TEST_F(Multi, TakesAllAndReleasesAll) {
    lease whole = taken(all);
    EXPECT_FALSE(is_free("a"));
    EXPECT_FALSE(is_free("b"));
    EXPECT_FALSE(is_free("c"));
    EXPECT_TRUE(whole.owns_lock());
    EXPECT_EQ(whole.name(), "a + b + c");
    said<> left;
    whole.async_unlock(left.handler());
    settle();
    EXPECT_TRUE(left.well());
    EXPECT_EQ(held_count(server), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Multi, AFreeOneTakesOneRequestOfEachMember) {
    const lease whole = taken(all);
    EXPECT_EQ(alice.count(verb::look), 3u);
}

TEST_F(Multi, ADroppedLeaseReleasesAll) {
    { const lease whole = taken(all); }
    settle();
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Multi, OneBusyMemberMakesItBusyAndTheOthersAreFreeAgain) {
    server.occupy("b", 1h);
    said<std::optional<lease>> tried;
    all.async_try_lock(tried.handler());
    settle();
    ASSERT_TRUE(tried.well());
    EXPECT_FALSE(tried.take());
    EXPECT_TRUE(is_free("a"));
    EXPECT_TRUE(is_free("c"));
}

TEST_F(Multi, HoldsNothingWhileItWaits) {
    server.occupy("b", 1h);
    all.async_lock(held.handler());
    run_for(30s);
    EXPECT_FALSE(held.done());
    EXPECT_TRUE(is_free("a"));
    EXPECT_TRUE(is_free("c"));
    server.vacate("b");
    run_for(1s);
    ASSERT_TRUE(held.well());
    EXPECT_TRUE(held.take().owns_lock());
}

/// Attempts of the client `alice` that wait in its local queue behind a call for several locks.
class MultiBehindACall : public Multi {
protected:
    said<lease> front;

    /// Returns the result of try_lock(): no error, and no lease, if the lock is busy.
    error_code result_of_try() { return result_of_try(all); }
    error_code result_of_try(multi_mutex& lock) {
        said<std::optional<lease>> tried;
        lock.async_try_lock(tried.handler());
        settle();
        EXPECT_TRUE(tried.done());
        if (!tried.well())
            return tried.code();
        EXPECT_FALSE(tried.value());
        return {};
    }
};

TEST_F(MultiBehindACall, TryReportsUnreachableWhileTheStoreDoesNotReply) {
    alice.always = fate{.refused = true};
    all.async_lock(front.handler());
    run_for(1s);
    said<std::optional<lease>> timed;
    all.async_try_lock_for(500ms, timed.handler());
    EXPECT_EQ(result_of_try(), errc::unreachable);
    run_for(510ms);
    EXPECT_TRUE(timed.failed(errc::unreachable));
    alice.always = {};
    run_for(2s);
    EXPECT_TRUE(front.well());
}

TEST_F(MultiBehindACall, TryReportsBusyAfterTheStoreRepliesAgain) {
    server.occupy("a", 1h);
    alice.always = fate{.refused = true};
    all.async_lock(front.handler());
    run_for(1s);
    alice.always = {};
    run_for(2s);
    EXPECT_EQ(result_of_try(), error_code{}) << "the call in front waits for a member";
    run_for(20s);
    EXPECT_EQ(result_of_try(), error_code{});
}

TEST_F(MultiBehindACall, TryReportsUnreachableIfTheStoreStopsToReplyDuringTheWait) {
    server.occupy("b", 1h);
    all.async_lock(front.handler());
    run_for(2s);
    EXPECT_EQ(result_of_try(), error_code{});
    alice.always = fate{.refused = true};
    const std::size_t before = alice.count(verb::look);
    while (alice.count(verb::look) == before)
        run_for(100ms);
    EXPECT_EQ(result_of_try(), errc::unreachable);
    alice.always = {};
    run_for(2s);
    EXPECT_EQ(result_of_try(), error_code{});
}

TEST_F(MultiBehindACall, TryFollowsTheCallForOneLockThatAMemberWaitsBehind) {
    server.occupy("a", 1h);
    said<lease> alone;
    alice.always = fate{.refused = true};
    a.async_lock(alone.handler());
    run_for(100ms);
    all.async_lock(front.handler());
    run_for(1s);
    EXPECT_EQ(result_of_try(), errc::unreachable);
    alice.always = {};
    run_for(2s);
    EXPECT_EQ(result_of_try(), error_code{}) << "the first call waits for the lock a";
    server.vacate("a");
    settle();
    ASSERT_TRUE(alone.well());
    EXPECT_EQ(result_of_try(), error_code{});
}

TEST_F(MultiBehindACall, TryReportsBusyWhileAMemberWaitsBehindAHolderOfItsClient) {
    actor& other = enter({}, 1s);
    mutex last{other, "last"};
    multi_mutex some{a, last};
    other.always = fate{.refused = true};
    some.async_lock(front.handler());
    settle();
    EXPECT_EQ(result_of_try(some), errc::unreachable);
    const lease alone = taken(a);
    other.always = {};
    run_for(2s);
    EXPECT_FALSE(front.done());
    EXPECT_EQ(result_of_try(some), error_code{});
}

TEST_F(Multi, GivesUpWhenItsTimeoutIsOver) {
    server.occupy("c", 1h);
    said<std::optional<lease>> tried;
    all.async_try_lock_for(2s, tried.handler());
    run_for(1900ms);
    EXPECT_FALSE(tried.done());
    run_for(200ms);
    ASSERT_TRUE(tried.well());
    EXPECT_FALSE(tried.take());
    EXPECT_EQ(held_count(server), 1u);
}

TEST_F(Multi, TimedCallEndsInTimeIfTheStoreDoesNotReply) {
    alice.always.request_lost = true;
    for (const duration timeout :
         {duration{1s}, duration{1100ms}, duration{2500ms}, duration{3s}}) {
        const time_point began = clock.now();
        said<std::optional<lease>> tried;
        all.async_try_lock_for(timeout, tried.handler());
        while (!tried.done())
            run_for(1ms);
        EXPECT_TRUE(is_retryable(tried.code())) << timeout.count() << " ms";
        EXPECT_LE(clock.now() - began, timeout + 1ms);
        run_for(10s);
    }
}

TEST_F(Multi, TimedCallEndsInTimeIfOnlyALaterMemberDoesNotReply) {
    actor& silent = enter({}, 1s);
    mutex last{silent, "last"};
    multi_mutex some{a, last};
    silent.always.request_lost = true;
    const time_point began = clock.now();
    said<std::optional<lease>> tried;
    some.async_try_lock_for(1100ms, tried.handler());
    while (!tried.done())
        run_for(1ms);
    EXPECT_TRUE(is_retryable(tried.code()));
    EXPECT_LE(clock.now() - began, 1101ms);
    run_for(10s);
    EXPECT_TRUE(is_free("a"));
}

TEST_F(Multi, IsRenewedAsAWhole) {
    const lease whole = taken(all);
    run_for(5min);
    EXPECT_TRUE(whole.owns_lock());
    EXPECT_GT(whole.remaining(), 15s);
}

TEST_F(Multi, AGivenLeaseEndsForAllAtOnce) {
    const lease whole = taken(all, lease_time{2s});
    EXPECT_GT(whole.remaining(), 1900ms);
    run_for(2s);
    EXPECT_FALSE(whole.owns_lock());
    EXPECT_TRUE(whole.lost().stop_requested());
}

TEST_F(Multi, AGivenLeaseIsWholeForEachMemberAfterAWait) {
    server.occupy("c", 5s);
    said<lease> got;
    all.async_lock(lease_time{2s}, got.handler());
    run_for(5100ms);
    ASSERT_TRUE(got.well());
    EXPECT_GT(got.take().remaining(), 1700ms);
}

TEST_F(Multi, TheLossOfOneIsTheLossOfTheWholeAndReleasesTheRest) {
    lease whole = taken(all);
    bool told = false;
    const std::stop_token lost = whole.lost();
    const std::stop_callback callback{lost, [&told] { told = true; }};
    ASSERT_TRUE(server.evict("b"));
    run_for(11s); // the next renewal notices it
    EXPECT_TRUE(told);
    EXPECT_FALSE(whole.owns_lock());
    EXPECT_EQ(held_count(server), 0u);
    said<> left;
    whole.async_unlock(left.handler());
    settle();
    EXPECT_TRUE(left.failed(errc::lease_lost));
}

TEST_F(Multi, ItsLossHasTheCauseOfTheLostMember) {
    const lease whole = taken(all);
    ASSERT_TRUE(server.evict("b"));
    run_for(11s);
    EXPECT_EQ(cause_of_loss(alice, "b"), event_cause::refused);
    EXPECT_EQ(cause_of_loss(alice, "a + b + c"), event_cause::refused);
    EXPECT_EQ(alice.ear->count(event_kind::released), 2u) << "the other members";
}

TEST_F(Multi, LossByTheEndOfItsLeaseSaysSo) {
    const lease whole = taken(all, lease_time{2s});
    run_for(2s);
    EXPECT_EQ(cause_of_loss(alice, "a + b + c"), event_cause::term_ended);
}

TEST_F(Multi, LossThatALateReleaseFindsHasACause) {
    lease whole = taken(all, lease_time{2s});
    clock.block_for(2s); // the executor is blocked and cannot report the loss
    whole.async_unlock(said{}.handler());
    settle();
    EXPECT_EQ(cause_of_loss(alice, "a + b + c"), event_cause::term_ended);
}

TEST_F(Multi, MaxHoldOfAMemberIsTheCauseOfDangerAndLoss) {
    actor& carol = enter({.max_hold = 1min}, 1s);
    mutex d{carol, "d"};
    multi_mutex both{a, d};
    const lease whole = taken(both);
    run_for(2min);
    const std::vector<support::told> dangers = alice.ear->of(event_kind::in_danger);
    ASSERT_EQ(dangers.size(), 1u);
    EXPECT_EQ(dangers.back().cause, event_cause::max_hold);
    EXPECT_EQ(cause_of_loss(carol, "d"), event_cause::max_hold);
    EXPECT_EQ(cause_of_loss(alice, "a + d"), event_cause::max_hold);
}

TEST_F(Multi, ForceUnlockIsTheCauseOfTheLossOfTheWholeAndOfEachMember) {
    mutex d{bob, "d"};
    multi_mutex both{a, d};
    // The whole is lost with its first member, and then releases the second member. Its reply may
    // arrive before or after the reply to force_unlock().
    for (const duration release_delay : {0ms, 200ms}) {
        const lease whole = taken(both);
        bob.planned.emplace_back(verb::force, fate{.answer_delay = 100ms});
        bob.planned.emplace_back(verb::release, fate{.answer_delay = release_delay});
        said<bool> forced;
        both.async_force_unlock(forced.handler());
        run_for(1s);
        ASSERT_TRUE(forced.well());
        EXPECT_TRUE(forced.value());
        EXPECT_EQ(cause_of_loss(alice, "a"), event_cause::forced);
        EXPECT_EQ(cause_of_loss(alice, "a + d"), event_cause::forced);
        EXPECT_EQ(cause_of_loss(bob, "d"), event_cause::forced);
        EXPECT_EQ(bob.ear->count(event_kind::released), 0u);
        alice.ear->clear();
        bob.ear->clear();
        bob.planned.clear();
    }
}

TEST_F(Multi, ForceUnlockThatFindsNothingIsNotTheCauseOfALaterLoss) {
    const lease whole = taken(all);
    server.evict("a");
    said<bool> forced;
    a.async_force_unlock(forced.handler());
    settle();
    EXPECT_FALSE(forced.take());
    run_for(11s);
    EXPECT_EQ(cause_of_loss(alice, "a"), event_cause::refused);
    EXPECT_EQ(cause_of_loss(alice, "a + b + c"), event_cause::refused);
}

TEST_F(Multi, NoEventFollowsItsLossByClosing) {
    lease whole = taken(all);
    close(alice);
    settle();
    whole.hold()->thread_ended();
    whole.hold()->abandon();
    run_for(10s);
    EXPECT_EQ(alice.ear->count(event_kind::lost), 4u) << "each member and the whole";
    EXPECT_EQ(alice.ear->count(event_kind::abandoned), 0u);
    EXPECT_EQ(cause_of_loss(alice, "a + b + c"), event_cause::closed);
}

TEST_F(Multi, ExtendsAll) {
    lease whole = taken(all, lease_time{2s});
    said<> longer;
    whole.async_extend(lease_time{1min}, longer.handler());
    settle();
    EXPECT_TRUE(longer.well());
    run_for(50s);
    EXPECT_TRUE(whole.owns_lock());
}

TEST_F(Multi, ACancelledCallLeavesNothing) {
    server.occupy("b", 1h);
    asio::cancellation_signal stop;
    all.async_lock(asio::bind_cancellation_slot(stop.slot(), held.handler()));
    run_for(1s);
    stop.emit(asio::cancellation_type::terminal);
    settle();
    EXPECT_TRUE(held.failed(asio::error::operation_aborted));
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Multi, AMemberThatFailsEndsTheCallAndNamesItself) {
    bob.always.denied = true;
    mutex d{bob, "d"};
    multi_mutex both{a, d};
    both.async_lock(held.handler());
    settle();
    EXPECT_TRUE(held.failed(errc::refused));
    run_for(1s);
    EXPECT_TRUE(is_free("a"));
}

TEST_F(Multi, AMemberThatIsAwayForAMomentIsWaitedFor) {
    bob.always.refused = true;
    mutex d{bob, "d"};
    multi_mutex both{a, d};
    both.async_lock(held.handler());
    run_for(3s);
    EXPECT_FALSE(held.done());
    bob.always = {};
    run_for(3s);
    EXPECT_TRUE(held.well());
}

TEST_F(Multi, AMemberThatStaysAwayEndsTheCall) {
    bob.always.refused = true;
    mutex d{bob, "d"};
    multi_mutex both{a, d};
    said<std::optional<lease>> tried;
    both.async_try_lock(tried.handler());
    both.async_lock(held.handler());
    run_for(1s);
    EXPECT_TRUE(tried.failed(errc::unreachable));
    run_for(30s);
    EXPECT_TRUE(held.failed(errc::unreachable));
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Multi, CallsOfOneClientAreServedInOrder) {
    lease first = taken(all);
    said<lease> second, third;
    all.async_lock(second.handler());
    all.async_lock(third.handler());
    run_for(1s);
    EXPECT_FALSE(second.done());
    { const lease over = std::move(first); }
    run_for(1s);
    ASSERT_TRUE(second.well());
    EXPECT_FALSE(third.done());
    { const lease over = second.take(); }
    run_for(1s);
    EXPECT_TRUE(third.well());
}

TEST_F(Multi, TwoThatMeetInOppositeOrdersBothGetIt) {
    mutex b_of_bob{bob, "b"}, a_of_bob{bob, "a"};
    multi_mutex of_bob{b_of_bob, a_of_bob};
    multi_mutex of_alice{a, b};
    int served = 0;
    for (int i = 0; i < 20; ++i) {
        said<lease> one, other;
        of_alice.async_lock(one.handler());
        of_bob.async_lock(other.handler());
        for (int turns = 0; turns < 2; ++turns) {
            run_for(2s);
            for (said<lease>* each : {&one, &other})
                if (each->done()) {
                    ASSERT_TRUE(each->well());
                    const lease over = each->take();
                    served += over.owns_lock() ? 1 : 0;
                }
        }
    }
    EXPECT_EQ(served, 40);
}

TEST_F(Multi, RefusesWhatCannotBeAMember) {
    const auto of = [](multi_mutex::members members) {
        return [members] { const multi_mutex made{members}; };
    };
    const auto refuses = [](const char* words) {
        return testing::ThrowsMessage<boost::system::system_error>(HasSubstr(words));
    };
    const multi_mutex::members twice{a, b, a}, nested{a, all};
    EXPECT_THAT(of(twice), refuses("same lock"));
    EXPECT_THAT(of(nested), refuses("several locks"));
    EXPECT_THAT(of({}), refuses("0 members"));
}

TEST_F(Multi, ItsTokensAreTheMembers) {
    fenced_mutex f{alice, "f"};
    multi_mutex both{a, f};
    const lease whole = taken(both);
    EXPECT_THAT(multi_mutex::fencing_tokens(whole), ElementsAre(0u, 1u));
    const lease one = taken(b);
    EXPECT_THAT(multi_mutex::fencing_tokens(one), IsEmpty());
}

TEST_F(Multi, QuestionsAreAskedOfAllMembers) {
    said<bool> locked;
    all.async_is_locked(locked.handler());
    settle();
    EXPECT_FALSE(locked.take());
    server.occupy("c", 1h);
    said<bool> now;
    all.async_is_locked(now.handler());
    said<bool> forced;
    settle();
    EXPECT_TRUE(now.take());
    all.async_force_unlock(forced.handler());
    settle();
    EXPECT_TRUE(forced.take());
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Multi, ClosingItsClientLosesIt) {
    const lease whole = taken(all);
    const said<> closed = close(alice);
    run_for(10s);
    EXPECT_TRUE(closed.done());
    EXPECT_TRUE(whole.lost().stop_requested());
}

TEST_F(Multi, ClosingAnothersClientLosesIt) {
    mutex d{bob, "d"};
    multi_mutex both{a, d};
    const lease whole = taken(both);
    const said<> closed = close(bob);
    run_for(100ms);
    EXPECT_TRUE(whole.lost().stop_requested());
    EXPECT_EQ(cause_of_loss(alice, "a + d"), event_cause::closed);
    EXPECT_TRUE(is_free("a"));
    run_for(10s);
    EXPECT_TRUE(closed.done());
}

TEST_F(Multi, AnyTakesTheFirstThatIsFree) {
    server.occupy("a", 1h);
    server.occupy("b", 1h);
    server.occupy("c", 5s);
    said<std::optional<lease>> got;
    all.async_try_lock_any_for(1min, got.handler());
    run_for(4s);
    EXPECT_FALSE(got.done());
    run_for(3s);
    ASSERT_TRUE(got.well());
    const std::optional<lease> one = got.take();
    ASSERT_TRUE(one);
    EXPECT_EQ(one->name(), "c");
    EXPECT_TRUE(one->owns_lock());
    EXPECT_EQ(held_count(server), 3u);
}

TEST_F(Multi, AnyTakesOneOnlyAndReleasesTheRest) {
    said<std::optional<lease>> got;
    all.async_try_lock_any_for(1min, got.handler());
    run_for(1s);
    ASSERT_TRUE(got.well());
    const std::optional<lease> one = got.take();
    EXPECT_TRUE(one && one->owns_lock());
    EXPECT_EQ(held_count(server), 1u);
}

} // namespace
} // namespace holdfast::sync
