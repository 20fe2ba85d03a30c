// SPDX-License-Identifier: Apache-2.0
// Scenarios: the server's clock differs from ours.
#include "sim/story.hpp"

namespace holdfast::sim {
namespace {

struct ServerClock : story {
    asio::awaitable<void> take_once() {
        held mine = co_await take(alice);
        EXPECT_TRUE(mine);
        EXPECT_EQ(co_await give_back(mine), outcome::done);
    }
};

TEST_F(ServerClock, AStepIsTakenForLatenessOnceAndThenLearnt) {
    auto scene = [&]() -> asio::awaitable<void> {
        co_await take_once();
        w.step_clock(1h);
        co_await take_once();
        w.step_clock(-2h);
        co_await take_once();
        EXPECT_EQ(now(), 0ms);
    };
    play(scene);
}

TEST_F(ServerClock, OneAttemptIsEnoughEvenAfterAStep) {
    auto scene = [&]() -> asio::awaitable<void> {
        co_await take_once();
        w.step_clock(1h);
        const wanted how = once();
        held mine = co_await take(alice, how);
        EXPECT_TRUE(mine);
    };
    play(scene);
}

// The margin of a lease is one percent plus two milliseconds.
TEST_F(ServerClock, OnePerCentTooFastDoesNoHarm) {
    duration lost_at{}, bob_got_it{};
    w.set_rate(1.01);
    auto scene_of_alice = [&]() -> asio::awaitable<void> {
        const wanted how = fixed(6s);
        held mine = co_await take(alice, how);
        std::stop_callback on_loss{mine->what().held.lost(), [&] { lost_at = now(); }};
        alice.net.cut(true); // without the cut she would release the lock after its loss
        co_await sleep(10s);
        alice.net.mend();
    };
    auto scene_of_bob = [&]() -> asio::awaitable<void> {
        co_await sleep(1ms);
        held mine = co_await take(bob);
        bob_got_it = now();
    };
    play(scene_of_alice, scene_of_bob);
    EXPECT_GT(lost_at, 0ms);
    EXPECT_LT(lost_at, bob_got_it);
    EXPECT_LT(bob_got_it, 6s);
}

// Found by a seed: replies that take almost the whole timeout arrive late. No clock has moved.
TEST_F(ServerClock, ASlowNetworkIsNoUnstableClock) {
    const duration slow = w.how.command_timeout - 1ms;
    auto scene = [&]() -> asio::awaitable<void> {
        co_await take_once();
        co_await sleep(10s); // the client's estimate of the clock is then too old
        alice.net.next(memory::verb::look, {.request_delay = slow});
        alice.net.next(memory::verb::look, {.request_delay = slow});
        held mine = co_await take(alice);
        EXPECT_TRUE(mine);
    };
    play(scene);
}

TEST_F(ServerClock, SlowAnswersDoNotMakeATimedTryLaterThanOneCommandTimeout) {
    const duration slow = w.how.command_timeout - 1ms;
    auto scene = [&]() -> asio::awaitable<void> {
        co_await take_once();
        co_await sleep(10s);
        alice.net.next(memory::verb::look, {.request_delay = slow});
        alice.net.next(memory::verb::look, {.request_delay = slow});
        const duration began = now();
        const wanted how = at_most(40ms);
        held mine = co_await take(alice, how);
        EXPECT_LE(now() - began, 40ms + w.how.command_timeout);
    };
    play(scene);
}

} // namespace
} // namespace holdfast::sim
