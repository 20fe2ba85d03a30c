// SPDX-License-Identifier: Apache-2.0
// Scenarios: waiters and holders whose client is closed.
#include "sim/story.hpp"

namespace holdfast::sim {
namespace {

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

// Found by a seed: the release was already sent, but its reply had not arrived.
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
