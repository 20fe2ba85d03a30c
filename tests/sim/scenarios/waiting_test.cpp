// SPDX-License-Identifier: Apache-2.0
// Scenarios with waiters that get their locks, or whose client is closed.
#include "sim/story.hpp"

namespace holdfast::sim {
namespace {

// Scenarios in which a waiter gets its lock.

struct Waiting : story {};

TEST_F(Waiting, TheReleaseWakesTheWaiter) {
    duration bob_got_it{};
    auto scene_of_alice = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        co_await sleep(1500ms);
        EXPECT_EQ(co_await give_back(mine), outcome::done);
    };
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        co_await sleep(1ms);
        held mine = co_await take(bob);
        bob_got_it = now();
    };
    play(scene_of_alice, scene_of_bob);
    EXPECT_EQ(bob_got_it, 1500ms);
}

TEST_F(Waiting, ADeadHolderKeepsTheWaiterForOneLease) {
    duration bob_got_it{};
    auto scene_of_alice = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        alice.net.cut(false); // Alice never connects again, as if her program had died
        co_await sleep(30s);
        alice.net.mend();
    };
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        co_await sleep(1ms);
        held mine = co_await take(bob);
        bob_got_it = now();
    };
    play(scene_of_alice, scene_of_bob);
    EXPECT_GE(bob_got_it, w.how.lease_time);
    EXPECT_LE(bob_got_it, w.how.lease_time + 5ms);
}

TEST_F(Waiting, ALostWakeUpCostsAtMostThePollBound) {
    duration bob_got_it{};
    auto scene_of_alice = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        co_await sleep(500ms);
        EXPECT_EQ(co_await give_back(mine), outcome::done);
    };
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        co_await sleep(1ms);
        bob.net.next(memory::verb::look, {.wake_up_lost = true});
        held mine = co_await take(bob);
        bob_got_it = now();
    };
    play(scene_of_alice, scene_of_bob);
    EXPECT_GT(bob_got_it, 500ms);
    EXPECT_LE(bob_got_it, w.how.poll_bound + 1ms);
}

TEST_F(Waiting, AForeignersReleaseWakesToo) {
    duration bob_got_it{};
    w.occupy(0, 6s);
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        held mine = co_await take(bob);
        bob_got_it = now();
    };
    auto scene_of_the_jvm = [&]() -> asio::awaitable<void> {
        co_await sleep(1300ms);
        w.vacate(0);
    };
    play(scene_of_bob, scene_of_the_jvm);
    EXPECT_EQ(bob_got_it, 1300ms);
}

TEST_F(Waiting, TimeoutEndsOnTime) {
    auto scene_of_alice = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        co_await sleep(10s);
    };
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        co_await sleep(1ms);
        const wanted how = at_most(700ms);
        held mine = co_await take(bob, how);
        EXPECT_FALSE(mine);
        EXPECT_EQ(now(), 701ms);
    };
    play(scene_of_alice, scene_of_bob);
}

TEST_F(Waiting, WithoutTimeoutALocalWaiterIsReasonEnoughToGiveUp) {
    w.occupy(0, 6s);
    auto first = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        EXPECT_TRUE(mine);
    };
    auto second = [&]() -> asio::awaitable<void> {
        co_await sleep(10ms);
        const wanted how = once();
        held mine = co_await take(alice, how);
        EXPECT_FALSE(mine);
        EXPECT_EQ(now(), 10ms); // the server got no request
    };
    play(first, second);
}

TEST_F(Waiting, TwoObjectsOfOneNameAreOneLockAndServeInOrder) {
    std::vector<int> order;
    auto waiter = [&](int number) -> asio::awaitable<void> {
        co_await sleep(duration{number});
        held mine = co_await take(alice);
        order.push_back(number);
        co_await sleep(100ms);
    };
    auto one = [&] { return waiter(1); };
    auto two = [&] { return waiter(2); };
    auto three = [&] { return waiter(3); };
    play(three, one, two);
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST_F(Waiting, WhoHasReleasedMayTakeItAgainAtOnce) {
    auto scene = [&]() -> asio::awaitable<void> {
        const wanted how = once();
        held first = co_await take(alice, how);
        EXPECT_EQ(co_await give_back(first), outcome::done);
        held second = co_await take(alice, how);
        EXPECT_TRUE(second);
    };
    play(scene);
}

TEST_F(Waiting, ALockObjectMayGoWhileItWaits) {
    w.occupy(0, 1s);
    auto scene = [&]() -> asio::awaitable<void> {
        auto m = std::make_shared<std::optional<mutex>>();
        m->emplace(*alice.program, w.name_of(0));
        w.after_steps(1, [m] { m->reset(); });
        const wanted how;
        held mine = co_await acquire(w, about(alice), alice.of_program, **m, how);
        EXPECT_TRUE(mine);
        EXPECT_FALSE(*m);
    };
    play(scene);
}

// Scenarios with waiters and holders whose client is closed.

struct Closing : story {};

TEST_F(Closing, WaitersFailAtOnceAtTheGateAndAtTheServer) {
    w.occupy(0, 6s);
    std::vector<duration> failed;
    auto waiter = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        EXPECT_FALSE(mine);
        failed.push_back(now());
    };
    auto end = [&]() -> asio::awaitable<void> {
        co_await sleep(1s);
        co_await close_program(w, alice);
        EXPECT_EQ(now(), 1s);
    };
    play(waiter, waiter, end);
    EXPECT_EQ(failed, (std::vector<duration>{1s, 1s}));
}

TEST_F(Closing, AHolderIsToldAndMayReleaseInTime) {
    auto holder_of_it = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        while (!mine->what().told_lost)
            co_await sleep(100ms);
        EXPECT_FALSE(mine->what().held.owns_lock());
        EXPECT_EQ(co_await give_back(mine), outcome::done);
        EXPECT_EQ(holder(), "");
    };
    auto end = [&]() -> asio::awaitable<void> {
        co_await sleep(450ms);
        co_await close_program(w, alice);
        EXPECT_EQ(now(), 500ms) << "it waits for its holders, and no longer";
    };
    play(holder_of_it, end);
}

TEST_F(Closing, AHoldThatIsKeptEndsWithItsLease) {
    auto holder_of_it = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        co_await until(3s);
        EXPECT_EQ(co_await give_back(mine), outcome::closed);
    };
    auto end = [&]() -> asio::awaitable<void> {
        co_await sleep(1s);
        co_await close_program(w, alice);
        EXPECT_EQ(now(), 1s + w.how.close_timeout);
    };
    duration bob_got_it{};
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        co_await sleep(1ms);
        held mine = co_await take(bob);
        bob_got_it = now();
    };
    play(holder_of_it, end, scene_of_bob);
    EXPECT_GE(bob_got_it, w.how.lease_time);
}

TEST_F(Closing, NothingMoreIsTakenOn) {
    auto scene = [&]() -> asio::awaitable<void> {
        mutex m{*alice.program, w.name_of(0)};
        co_await close_program(w, alice);
        auto answer = co_await m.async_lock(asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(std::get<0>(answer), errc::closed);
    };
    play(scene);
}

TEST_F(Closing, ADestroyedClientFailsItsWaitersToo) {
    w.occupy(0, 6s);
    auto waiter = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        EXPECT_FALSE(mine);
        EXPECT_EQ(now(), 1s);
    };
    auto end = [&]() -> asio::awaitable<void> {
        co_await sleep(1s);
        w.close_began(alice);
        w.start_program(alice);
    };
    play(waiter, end);
}

struct ClosingForGood : story {
    ClosingForGood()
        : story{{.release_on_close = true}} {}
};

TEST_F(ClosingForGood, WhatIsStillHeldIsReleasedUnderItsHolder) {
    auto holder_of_it = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        co_await until(3s);
        EXPECT_EQ(co_await give_back(mine), outcome::closed);
    };
    auto end = [&]() -> asio::awaitable<void> {
        co_await sleep(1s);
        co_await close_program(w, alice);
        EXPECT_EQ(holder(), "");
    };
    play(holder_of_it, end);
}

// Found by a seed: the client was closed when the release was sent, but its reply had not arrived.
TEST_F(ClosingForGood, AnUnlockThatComesTooLateIsToldThatTheClientClosed) {
    alice.net.next(memory::verb::release, {.answer_delay = 500ms});
    auto holder_of_it = [&]() -> asio::awaitable<void> {
        held mine = co_await take(alice);
        co_await until(1s + w.how.close_timeout + 100ms);
        EXPECT_EQ(co_await give_back(mine), outcome::closed);
    };
    auto end = [&]() -> asio::awaitable<void> {
        co_await sleep(1s);
        co_await close_program(w, alice);
    };
    play(holder_of_it, end);
}

} // namespace
} // namespace holdfast::sim
