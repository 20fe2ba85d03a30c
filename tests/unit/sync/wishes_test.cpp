// SPDX-License-Identifier: Apache-2.0
// A program asks the holder of a lock to release it soon: who gets the request, when, and how many
// messages this costs.
#include "unit/sync/stage.hpp"

#include <holdfast/leased_semaphore.hpp>
#include <holdfast/multi_mutex.hpp>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;

class Wishes : public on_stage {
protected:
    actor& alice = enter();
    actor& bob = enter();
    mutex job{alice, "job"}, bobs{bob, "job"};

    /// Bob asks for the lock `name`. Returns the owners that are asked.
    std::vector<std::string> ask(const std::string& name = "job", std::string reason = "deploy",
                                 duration kept = 1min) {
        said<std::vector<std::string>> told;
        bob.program->async_ask_for(name, std::move(reason), kept, told.handler());
        settle();
        EXPECT_TRUE(told.well());
        return told.well() ? told.take() : std::vector<std::string>{};
    }
    error_code error_of(std::string reason) {
        said<std::vector<std::string>> told;
        bob.program->async_ask_for("job", std::move(reason), 1min, told.handler());
        settle();
        return told.code();
    }
    void release(lease held) {
        said<> told;
        held.async_unlock(told.handler());
        settle();
        EXPECT_TRUE(told.well());
    }
};

TEST_F(Wishes, HolderThatListensGetsAWishAtOnceWithItsReason) {
    const lease held = taken(job);
    const std::stop_token asked = held.asked();
    settle();
    EXPECT_FALSE(asked.stop_requested());
    EXPECT_FALSE(held.received_wish());

    EXPECT_THAT(ask(), ElementsAre(held.owner()));
    EXPECT_TRUE(asked.stop_requested());
    ASSERT_TRUE(held.received_wish());
    EXPECT_EQ(held.received_wish()->reason, "deploy");
    EXPECT_THAT(held.received_wish()->from, MatchesRegex(".+:[0-9]+"));
    EXPECT_TRUE(held.owns_lock()) << "the holder may go on";
    EXPECT_FALSE(held.lost().stop_requested());
}

TEST_F(Wishes, HolderThatListensLaterGetsTheStoredWish) {
    const lease held = taken(job);
    ask();
    run_for(50s);
    const std::stop_token asked = held.asked();
    settle();
    EXPECT_TRUE(asked.stop_requested());
}

TEST_F(Wishes, WishThatIsNoLongerKeptReachesNobody) {
    const lease held = taken(job);
    ask("job", "deploy", 10s);
    run_for(10s);
    const std::stop_token asked = held.asked();
    run_for(1min);
    EXPECT_FALSE(asked.stop_requested());
}

TEST_F(Wishes, LostNotificationDelaysTheWishByAThirdOfTheLeaseAtMost) {
    const lease held = taken(job);
    alice.planned = {{verb::inspect, {.wake_up_lost = true}}};
    const std::stop_token asked = held.asked();
    run_for(1s);
    ask();
    EXPECT_FALSE(asked.stop_requested());
    run_for(options{}.lease_time / 3);
    EXPECT_TRUE(asked.stop_requested());
}

TEST_F(Wishes, FailedReadingIsRepeated) {
    const lease held = taken(job);
    ask();
    alice.planned = {{verb::inspect, {.denied = true}}, {verb::inspect, {.refused = true}}};
    const std::stop_token asked = held.asked();
    run_for(options{}.lease_time / 3);
    EXPECT_FALSE(asked.stop_requested());
    run_for(options{}.lease_time / 3);
    EXPECT_TRUE(asked.stop_requested());
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(Wishes, LockThatNobodyHoldsHasNobodyToAsk) {
    EXPECT_THAT(ask(), IsEmpty());
    const lease held = taken(job);
    const std::stop_token asked = held.asked();
    run_for(1min);
    EXPECT_FALSE(asked.stop_requested()) << "the wish came before this hold";
}

TEST_F(Wishes, LaterHolderDoesNotGetTheWishForItsPredecessor) {
    lease first = taken(job);
    ask();
    release(std::move(first));
    const lease next = taken(job);
    const lease of_bob = [&] {
        said<lease> told;
        bobs.async_lock(told.handler());
        settle();
        EXPECT_FALSE(told.done());
        return lease{};
    }();
    const std::stop_token asked = next.asked();
    run_for(1min);
    EXPECT_FALSE(asked.stop_requested());
}

TEST_F(Wishes, HolderThatDoesNotListenSendsNoFurtherRequest) {
    lease held = taken(job);
    ask();
    release(std::move(held));
    EXPECT_THAT(alice.log, SizeIs(2)) << "an attempt and a release";
    EXPECT_EQ(listener_count(server), 0u);
}

TEST_F(Wishes, ListeningEndsWithTheHold) {
    lease held = taken(job);
    const std::stop_token asked = held.asked();
    settle();
    EXPECT_EQ(listener_count(server), 1u);
    release(std::move(held));
    EXPECT_EQ(listener_count(server), 0u);
    const std::size_t before = alice.log.size();
    run_for(1min);
    EXPECT_THAT(alice.log, SizeIs(before));
}

TEST_F(Wishes, ListeningEndsWithTheFirstWish) {
    const lease held = taken(job);
    const std::stop_token asked = held.asked();
    ask();
    ASSERT_TRUE(asked.stop_requested());
    EXPECT_EQ(listener_count(server), 0u);
    const std::size_t before = alice.count(verb::inspect);
    ask("job", "again");
    run_for(1min);
    EXPECT_EQ(alice.count(verb::inspect), before);
    EXPECT_EQ(held.received_wish()->reason, "deploy");
}

TEST_F(Wishes, ListeningEndsWhenTheClientCloses) {
    const lease held = taken(job);
    const std::stop_token asked = held.asked();
    settle();
    const said<> closed = close(alice);
    run_for(1min);
    EXPECT_TRUE(closed.well());
    EXPECT_FALSE(asked.stop_requested());
}

TEST_F(Wishes, ListeningEndsWhenTheHoldIsLost) {
    const lease held = taken(job);
    const std::stop_token asked = held.asked();
    settle();
    server.evict("job");
    run_for(11s);
    EXPECT_TRUE(held.lost().stop_requested());
    EXPECT_FALSE(asked.stop_requested());
    EXPECT_EQ(listener_count(server), 0u);
}

TEST_F(Wishes, HoldThatWasAskedForIsNotPassedOnWithinTheClient) {
    lease held = taken(job);
    const std::stop_token asked = held.asked();
    ask();
    said<lease> next;
    job.async_lock(next.handler());
    settle();
    release(std::move(held));
    EXPECT_EQ(alice.count(verb::release), 1u);
    run_for(1s);
    ASSERT_TRUE(next.well());
    const std::stop_token again = next.value().asked();
    run_for(1min);
    EXPECT_FALSE(again.stop_requested());
}

TEST_F(Wishes, CallbackMayReleaseTheLock) {
    lease held = taken(job);
    said<> left;
    const std::stop_callback release_it{held.asked(), [&] { held.async_unlock(left.handler()); }};
    settle();
    ask();
    EXPECT_TRUE(left.well());
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Wishes, AllReadersAndTheWriterOfASharedMutexAreAsked) {
    shared_mutex prices{alice, "prices"}, others{bob, "prices"};
    {
        const lease one = taken(prices.shared()), other = taken(others.shared());
        const std::stop_token asked = one.asked(), other_asked = other.asked();
        EXPECT_THAT(ask("prices"), SizeIs(2));
        EXPECT_TRUE(asked.stop_requested());
        EXPECT_TRUE(other_asked.stop_requested());
    }
    settle();
    basic_mutex& alone = prices;
    const lease written = taken(alone);
    const std::stop_token asked = written.asked();
    EXPECT_THAT(ask("prices"), SizeIs(1));
    EXPECT_TRUE(asked.stop_requested());
}

TEST_F(Wishes, NewReaderOfTheSameClientGetsAHoldThatWasNotAskedFor) {
    shared_mutex prices{alice, "prices"};
    const lease one = taken(prices.shared());
    const std::stop_token asked = one.asked();
    ask("prices");
    ASSERT_TRUE(asked.stop_requested());
    const lease late = taken(prices.shared());
    const std::stop_token late_asked = late.asked();
    run_for(10s);
    EXPECT_NE(late.owner(), one.owner());
    EXPECT_FALSE(late_asked.stop_requested());
}

TEST_F(Wishes, HoldOnSeveralLocksIsAskedForEachOfThem) {
    mutex more{alice, "more"};
    multi_mutex both{job, more};
    const lease held = taken(both);
    const std::stop_token asked = held.asked();
    settle();
    EXPECT_FALSE(held.received_wish());
    ask("more", "for the second");
    EXPECT_TRUE(asked.stop_requested());
    ASSERT_TRUE(held.received_wish());
    EXPECT_EQ(held.received_wish()->reason, "for the second");
}

TEST_F(Wishes, HoldOnSeveralLocksThatListensLaterGetsTheStoredWish) {
    mutex more{alice, "more"};
    multi_mutex both{job, more};
    const lease held = taken(both);
    ask("more");
    const std::stop_token asked = held.asked();
    settle();
    EXPECT_TRUE(asked.stop_requested());
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(Wishes, PermitsAreNeverAskedFor) {
    leased_semaphore slots{alice, "slots"};
    said<bool> made;
    slots.async_try_set_permits(1, made.handler());
    settle();
    said<lease> told;
    slots.async_acquire(1, told.handler());
    settle();
    ASSERT_TRUE(told.well());
    const std::stop_token asked = told.value().asked();
    run_for(1min);
    EXPECT_FALSE(asked.stop_possible());
    EXPECT_EQ(alice.count(verb::inspect), 0u);
}

TEST_F(Wishes, ReasonThatIsTooLongIsRefused) {
    EXPECT_EQ(error_of(std::string(wish::reason_bytes_max, 'x')), error_code{});
    EXPECT_EQ(error_of(std::string(wish::reason_bytes_max + 1, 'x')), errc::invalid_argument);
}

TEST_F(Wishes, EmptyLeaseIsNeverAskedFor) {
    const lease nothing;
    EXPECT_FALSE(nothing.asked().stop_possible());
    EXPECT_FALSE(nothing.received_wish());
}

} // namespace
} // namespace holdfast::sync
