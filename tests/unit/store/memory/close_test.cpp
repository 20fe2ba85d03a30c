// SPDX-License-Identifier: Apache-2.0
// Ends: of a client, of a server, of everything in any order.
#include "memory_world.hpp"
#include "runtime/real_clock.hpp"
#include "support/renewed.hpp"

#include <thread>
#include <vector>

namespace holdfast::memory {
namespace {

using MemoryClose = MemoryWorld;

TEST_F(MemoryClose, WhatIsInFlightFailsAndLeavesNoWork) {
    fates = {{.request_delay = 2s},
             {.request_lost = true},
             {.answer_delay = 2s},
             {.executed_again = 1h}};
    int failed = 0;
    auto fails = [](MemoryClose& w, std::string name, int& count) -> asio::awaitable<void> {
        const auto spot = w.alice.line_up(std::move(name));
        if (co_await failure_of(spot->look()) == errc::closed)
            ++count;
    };
    for (const char* name : {"a", "b", "c", "d"})
        asio::co_spawn(io, fails(*this, name, failed), asio::detached);
    auto close = [](MemoryClose& w) -> asio::awaitable<void> {
        co_await w.sleep_for(1s);
        w.alice.home->close();
    };
    play(close(*this));
    EXPECT_EQ(failed, 3); // the fourth was answered at once
    EXPECT_EQ(passed(), 1s);
    EXPECT_EQ(clock.sleepers(), 0u);
    EXPECT_FALSE(there.inspect("a")); // never arrived
}

TEST_F(MemoryClose, AfterwardsEverythingAnswersClosedAndAsksNoFaultFunction) {
    alice.home->close();
    alice.home->close();
    play([](MemoryClose& w) -> asio::awaitable<void> {
        lock_store& locks = w.alice.home->locks();
        const auto spot = w.alice.line_up("stock");
        EXPECT_EQ(co_await failure_of(spot->look()), errc::closed);
        EXPECT_FALSE(spot->uncertain());
        const hold held = w.alice.held("stock");
        const hold* const mine[] = {&held};
        EXPECT_EQ(co_await failure_of(support::renewed(locks, mine, 1s)), errc::closed);
        EXPECT_EQ(co_await failure_of(locks.release(w.alice.held("stock"))), errc::closed);
        EXPECT_EQ(co_await failure_of(w.alice.home->operators_view().inspect("stock")),
                  errc::closed);
        EXPECT_EQ(w.requests, 0);
    }(*this));
}

TEST_F(MemoryClose, AStoreMayDieWithRequestsInFlight) {
    fates = {{.request_delay = 2s}};
    auto story = [](MemoryClose& w) -> asio::awaitable<void> {
        const hold held = w.alice.held("stock");
        const hold* const mine[] = {&held};
        EXPECT_EQ(co_await failure_of(support::renewed(w.alice.home->locks(), mine, 1s)),
                  errc::closed);
    };
    asio::co_spawn(io, story(*this), asio::detached);
    clock.run_for(1s);
    alice.home.reset();
    EXPECT_TRUE(clock.run_until_idle());
    EXPECT_EQ(passed(), 1s);
}

TEST_F(MemoryClose, AClientOutlivesItsServerObject) {
    auto own = std::make_unique<server>(clock);
    guest carol{io, clock, own->connect(), 'c'};
    own.reset();
    play([](guest& of) -> asio::awaitable<void> {
        EXPECT_TRUE((co_await of.line_up("stock")->look()).granted);
    }(carol));
}

TEST(MemoryNamed, TheSameNameIsTheSameServerWhileSomebodyUsesIt) {
    asio::io_context io;
    sim::sim_clock clock{io};
    {
        const guest user{io, clock, server::named("memory-named-test")->connect(), 'a'};
        server::named("memory-named-test")->occupy("stock", 1h);
        server::named("another")->occupy("a", 1h);
        EXPECT_EQ(server::named("memory-named-test")->held_count(), 1u);
        EXPECT_EQ(server::named("another")->held_count(), 0u);
    }
    EXPECT_EQ(server::named("memory-named-test")->held_count(), 0u);
}

/// A client of a thread of its own, on the real clock.
struct threaded_guest {
    explicit threaded_guest(server& s, std::uint8_t identity)
        : self{io, time, s.connect(), identity} {}

    asio::io_context io{1};
    runtime::real_clock time{io.get_executor()};
    guest self;
};

asio::awaitable<void> take_turns(threaded_guest& who, int rounds, int& inside, int& total) {
    for (int i = 0; i < rounds; ++i) {
        ++who.self.id.number;
        const auto spot = who.self.line_up("stock");
        answer said = co_await spot->look();
        while (!said.granted) {
            co_await who.self.wake->wait_until(who.time.now() + said.term);
            said = co_await spot->look();
        }
        EXPECT_EQ(++inside, 1);
        ++total;
        --inside;
        co_await spot->leave();
    }
}

TEST(MemoryThreads, ClientsOnSeveralThreadsExcludeAndWakeEachOther) {
    server there;
    constexpr int threads = 4, rounds = 200;
    int inside = 0, total = 0; // guarded by the lock itself
    {
        std::vector<std::jthread> running;
        for (int i = 0; i < threads; ++i)
            running.emplace_back([&, i] {
                threaded_guest who{there, static_cast<std::uint8_t>(i)};
                asio::co_spawn(who.io, take_turns(who, rounds, inside, total), asio::detached);
                who.io.run();
            });
    }
    EXPECT_EQ(total, threads * rounds);
    EXPECT_EQ(there.held_count(), 0u);
    EXPECT_EQ(there.listener_count(), 0u);
}

} // namespace
} // namespace holdfast::memory
