// SPDX-License-Identifier: Apache-2.0
// A look is not granted late: not after its caller gave up, not by a server whose clock is not what
// the client took it for.
#include "memory_world.hpp"

namespace holdfast::memory {
namespace {

using MemoryDeadline = MemoryWorld;

TEST_F(MemoryDeadline, TheFirstLookHasTheWholeTimeLimitEvenWithoutPatience) {
    fates = {{.request_delay = 1s}};
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 30s, w.clock.now());
        EXPECT_TRUE((co_await spot->look()).granted);
    }(*this));
}

TEST_F(MemoryDeadline, NoLaterLookIsGrantedAfterGivingUp) {
    there.occupy("stock", 60s);
    fates = {{}, {.request_delay = 1001ms}, {.request_delay = 1ms}};
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 30s, w.clock.now() + 1s);
        (void)co_await spot->look();
        w.there.vacate("stock");
        const answer said = co_await spot->look(); // late, asked again, and then it was time
        EXPECT_FALSE(said.granted);
        EXPECT_FALSE(spot->uncertain());
        EXPECT_EQ(w.requests, 2);
        EXPECT_EQ(w.there.held_count(), 0u);
    }(*this));
}

TEST_F(MemoryDeadline, ALookAfterGivingUpSendsNothing) {
    there.occupy("stock", 60s);
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 30s, w.clock.now());
        (void)co_await spot->look();
        EXPECT_FALSE((co_await spot->look()).granted);
        EXPECT_EQ(w.requests, 1);
    }(*this));
}

TEST_F(MemoryDeadline, AStepOfTheServersClockCostsOneMoreRequest) {
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        w.there.step_clock(1h);
        const auto first = w.alice.line_up("a");
        EXPECT_TRUE((co_await first->look()).granted);
        EXPECT_EQ(w.requests, 2);
        w.there.step_clock(-1h);
        const auto second = w.alice.line_up("b");
        EXPECT_TRUE((co_await second->look()).granted);
        EXPECT_EQ(w.requests, 3);
        EXPECT_EQ(w.there.held_count(), 2u);
    }(*this));
}

TEST_F(MemoryDeadline, AForceThatWasDelayedDoesNotFreeANewerHolder) {
    there.occupy("stock", 1s);
    fates = {{.request_delay = 3s + 1ms}};
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        inspector& operators = w.alice.home->operators_view();
        EXPECT_EQ(co_await failure_of(operators.force_release("stock", {})), errc::outcome_unknown);
        EXPECT_EQ(w.passed(), 3s);
        EXPECT_TRUE((co_await w.bob.line_up("stock")->look()).granted);
        co_await w.sleep_for(1s);
        EXPECT_EQ(w.there.inspect("stock")->owners.at(0), to_string(w.bob.id));
    }(*this));
}

TEST_F(MemoryDeadline, AClockThatJumpsTwiceIsUnstable) {
    guest carol{io, clock, there.connect([this](const request&) {
                    there.step_clock(1h);
                    return fate{};
                }),
                'c'};
    play([](guest& of) -> asio::awaitable<void> {
        const auto spot = of.line_up("stock");
        EXPECT_EQ(co_await failure_of(spot->look()), errc::clock_unstable);
        EXPECT_FALSE(spot->uncertain());
    }(carol));
    EXPECT_EQ(there.held_count(), 0u);
}

TEST_F(MemoryDeadline, OnePercentOfDriftIsNoReasonToRefuse) {
    for (const double rate : {0.99, 1.01}) {
        there.set_clock_rate(rate);
        play([](MemoryDeadline& w) -> asio::awaitable<void> {
            const int before = w.requests;
            for (int i = 0; i < 5; ++i) {
                co_await w.sleep_for(20s);
                const auto spot = w.alice.line_up("stock");
                EXPECT_TRUE((co_await spot->look()).granted);
            }
            EXPECT_EQ(w.requests, before + 5);
        }(*this));
    }
}

TEST_F(MemoryDeadline, AFastServerEndsLeasesEarly) {
    there.set_clock_rate(2.0);
    play([](MemoryDeadline& w) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up("stock", 10s);
        (void)co_await spot->look();
        co_await w.sleep_for(4999ms);
        EXPECT_EQ(w.there.held_count(), 1u);
        co_await w.sleep_for(1ms);
        EXPECT_EQ(w.there.held_count(), 0u);
    }(*this));
}

} // namespace
} // namespace holdfast::memory
