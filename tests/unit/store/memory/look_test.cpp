// SPDX-License-Identifier: Apache-2.0
#include "memory_world.hpp"

namespace holdfast::memory {
namespace {

using MemoryLook = MemoryWorld;

TEST_F(MemoryLook, AFreeLockIsGrantedForTheLeaseAsked) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 30s);
        const answer said = co_await spot->look();
        EXPECT_TRUE(said.granted);
        EXPECT_EQ(said.term, 30s);
        EXPECT_FALSE(spot->uncertain());
        const auto seen = w.there.inspect("stock");
        EXPECT_EQ(seen->owners, std::vector{to_string(w.alice.id)});
        EXPECT_EQ(seen->remaining, 30s);
        EXPECT_EQ(w.there.held_count(), 1u);
    }(*this));
}

TEST_F(MemoryLook, LookingTwiceGrantsOnceAndNeverShortens) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 30s);
        (void)co_await spot->look();
        const auto shorter = w.alice.line_up("stock", 5s);
        EXPECT_TRUE((co_await shorter->look()).granted);
        EXPECT_EQ(w.there.inspect("stock")->remaining, 30s);
        const auto longer = w.alice.line_up("stock", 50s);
        EXPECT_TRUE((co_await longer->look()).granted);
        EXPECT_EQ(w.there.inspect("stock")->remaining, 50s);
        EXPECT_TRUE(co_await w.alice.home->locks().release(w.alice.held("stock")));
        EXPECT_EQ(w.there.held_count(), 0u);
    }(*this));
}

TEST_F(MemoryLook, TheFirstBusyAnswerAsksToLookAgainAtOnceAndTheSecondSaysWhen) {
    there.occupy("stock", 3s);
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock");
        const answer first = co_await spot->look();
        EXPECT_FALSE(first.granted);
        EXPECT_EQ(first.term, 0s);
        EXPECT_EQ(w.there.listener_count(), 0u);
        const answer second = co_await spot->look();
        EXPECT_FALSE(second.granted);
        EXPECT_EQ(second.term, 3001ms); // behind the end of the holder's lease
        EXPECT_EQ(w.there.listener_count(), 1u);
    }(*this));
    EXPECT_EQ(there.listener_count(), 0u);
}

TEST_F(MemoryLook, NobodySleepsLongerThanThePollBound) {
    there.occupy("stock", duration::max());
    EXPECT_FALSE(there.inspect("stock")->remaining);
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock");
        (void)co_await spot->look();
        EXPECT_EQ((co_await spot->look()).term, 5s); // the world's random numbers are zero
    }(*this));
}

TEST_F(MemoryLook, AReleaseRingsTheAlarmOfEachPlaceThatListens) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        w.there.occupy("stock", 30s);
        const auto of_alice = w.alice.line_up("stock");
        const auto of_bob = w.bob.line_up("stock");
        for (int times = 0; times < 2; ++times) {
            (void)co_await of_alice->look();
            (void)co_await of_bob->look();
        }
        EXPECT_TRUE(w.there.vacate("stock"));
        co_await w.alice.wake->wait_until(time_point::max());
        co_await w.bob.wake->wait_until(time_point::max());
        EXPECT_EQ(w.passed(), 0s);
    }(*this));
}

TEST_F(MemoryLook, AReleaseBetweenTwoLooksIsSeenByTheSecond) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        w.there.occupy("stock", 30s);
        const auto spot = w.alice.line_up("stock");
        EXPECT_FALSE((co_await spot->look()).granted);
        w.there.vacate("stock");
        EXPECT_TRUE((co_await spot->look()).granted);
    }(*this));
}

TEST_F(MemoryLook, ARingThatComesAfterThePlaceDiedIsDropped) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        w.there.occupy("stock", 30s);
        auto spot = w.alice.line_up("stock");
        (void)co_await spot->look();
        (void)co_await spot->look();
        w.there.vacate("stock");
        spot.reset();
        co_await w.alice.wake->wait_until(w.clock.now() + 1s);
        EXPECT_EQ(w.passed(), 1s);
    }(*this));
}

TEST_F(MemoryLook, LeavingWithoutHavingTakenAnythingSendsNothing) {
    there.occupy("stock", 30s);
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock");
        (void)co_await spot->look();
        (void)co_await spot->look();
        const int before = w.requests;
        co_await spot->leave();
        EXPECT_EQ(w.requests, before);
        EXPECT_EQ(w.there.listener_count(), 0u);
    }(*this));
}

TEST_F(MemoryLook, LeavingAGrantedPlaceReleases) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock");
        (void)co_await spot->look();
        co_await spot->leave();
        EXPECT_EQ(w.there.held_count(), 0u);
        co_await spot->leave(); // nothing more to do
    }(*this));
}

TEST_F(MemoryLook, ALeaseEndsByTheServersClock) {
    play([](MemoryLook& w) -> asio::awaitable<void> {
        const auto of_bob = w.bob.line_up("stock", 10s);
        (void)co_await of_bob->look();
        const auto of_alice = w.alice.line_up("stock");
        co_await w.sleep_for(9999ms);
        EXPECT_FALSE((co_await of_alice->look()).granted);
        co_await w.sleep_for(1ms);
        EXPECT_EQ(w.there.held_count(), 0u);
        EXPECT_TRUE((co_await of_alice->look()).granted);
    }(*this));
}

TEST_F(MemoryLook, EveryKindIsOfferedAndNoNameThatNoServerWouldTake) {
    const lock_store& locks = alice.home->locks();
    for (const lock_kind kept :
         {lock_kind::plain, lock_kind::spin, lock_kind::fenced, lock_kind::fair, lock_kind::read,
          lock_kind::write, lock_kind::token, lock_kind::permit})
        EXPECT_TRUE(locks.offers(kept));
    EXPECT_EQ(locks.objection_to(""), "the name is empty");
    EXPECT_EQ(locks.objection_to(std::string(65'537, 'x')),
              "the name has 65537 bytes, more than 65536");
    EXPECT_FALSE(locks.objection_to(std::string(65'536, '\0')));
}

} // namespace
} // namespace holdfast::memory
