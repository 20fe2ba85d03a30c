// SPDX-License-Identifier: Apache-2.0
// One machine takes the place of another: what it has, and who learns of it when.
#include "replica_world.hpp"

namespace holdfast::memory {
namespace {

struct MemoryFailover : MemoryReplicas {};

TEST_F(MemoryFailover, AReplicaIsPromotedWithWhatHasReachedIt) {
    play([](MemoryFailover& w) -> story {
        co_await w.sleep_for(10ms);
        co_await w.alice.line_up("reached")->look();
        co_await w.sleep_for(5ms);
        co_await w.alice.line_up("late")->look();
        co_await w.sleep_for(4ms);
        w.there.promote(1);
        EXPECT_EQ(w.there.primary(), 1u);
        EXPECT_TRUE(w.there.inspect("reached"));
        EXPECT_FALSE(w.there.inspect("late"));
        co_await w.sleep_for(10ms);
        EXPECT_FALSE(w.there.inspect("late")) << "nothing comes behind the promotion";
    }(*this));
}

TEST_F(MemoryFailover, EndsOfLeasesTravelAsDatesOfThePrimarysClock) {
    there.step_clock(1, 20s);
    play([](MemoryFailover& w) -> story {
        co_await w.sleep_for(10ms);
        co_await w.alice.line_up("stock", 30s)->look();
        co_await w.sleep_for(5ms);
        w.there.promote(1);
        EXPECT_EQ(w.there.inspect("stock")->remaining, 10s - 5ms);
    }(*this));
}

TEST_F(MemoryFailover, WhoIsToldOfASwitchGoesThereDoubtsItsHoldsAndSaysSo) {
    play([](MemoryFailover& w) -> story {
        co_await w.line_up(0)->look();
        EXPECT_EQ(w.last_sent_to, 0u);
        w.there.promote(1);
        co_await w.sleep_for(1ms);
        EXPECT_EQ(w.doubts, 1) << "urgently";
        EXPECT_EQ(w.told.size(), 1u);
        EXPECT_EQ(w.told.at(0).kind, event_kind::moved);
        EXPECT_EQ(w.told.at(0).name, w.there.inside()->id());
        EXPECT_EQ(w.told.at(0).text, "it was announced");
        co_await w.line_up(0)->look();
        EXPECT_EQ(w.last_sent_to, 1u);
    }(*this));
}

TEST_F(MemoryFailover, NewsComeLateEarlyOrNeverAsTheTestHasIt) {
    play([](MemoryFailover& w) -> story {
        w.notice = std::nullopt;
        w.there.promote(1);
        co_await w.sleep_for(1h);
        co_await w.line_up(0)->look();
        EXPECT_EQ(w.last_sent_to, 0u) << "never";
        w.notice = 300ms;
        w.there.announce(1);
        co_await w.sleep_for(299ms);
        co_await w.line_up(0)->look();
        EXPECT_EQ(w.last_sent_to, 0u) << "late";
        co_await w.sleep_for(1ms);
        co_await w.line_up(0)->look();
        EXPECT_EQ(w.last_sent_to, 1u);

        w.there.demote(0);
        w.notice = 0ms;
        w.there.announce(0);
        co_await w.sleep_for(1ms);
        EXPECT_EQ(co_await failure_of(w.line_up(0)->look()), errc::unreachable) << "early";
        EXPECT_EQ(w.last_sent_to, 0u);
        w.there.promote(0);
        EXPECT_EQ(co_await failure_of(w.line_up(0)->look()), error_code{});
    }(*this));
}

TEST_F(MemoryFailover, WhoAsksADemotedOneWithoutNewsIsSentOn) {
    play([](MemoryFailover& w) -> story {
        w.notice = std::nullopt;
        w.there.promote(1);
        w.there.demote(0);
        co_await w.sleep_for(10ms);
        EXPECT_EQ(co_await failure_of(w.line_up(0)->look()), errc::unreachable)
            << "it was not carried out";
        EXPECT_EQ(w.told.at(0).text, "the old one is a replica now");
        EXPECT_TRUE((co_await w.line_up(0)->look()).granted);
        EXPECT_EQ(w.last_sent_to, 1u);
    }(*this));
}

TEST_F(MemoryFailover, WhatIsUnderWayWhenTheClientMovesIsUnknownAtOnce) {
    fates = {{.answer_delay = 2s}};
    play([](MemoryFailover& w) -> story {
        auto promote = [](MemoryFailover& of) -> story {
            co_await of.sleep_for(300ms);
            of.there.promote(1);
        };
        asio::co_spawn(w.io, promote(w), asio::detached);
        const auto spot = w.line_up(0);
        EXPECT_EQ(co_await failure_of(spot->look()), errc::outcome_unknown);
        EXPECT_EQ(w.passed(), 300ms);
        EXPECT_TRUE(spot->uncertain());
    }(*this));
}

TEST_F(MemoryFailover, WhoseMachineIsDemotedWaitsForNoConfirmationAnyMore) {
    play([](MemoryFailover& w) -> story {
        co_await w.sleep_for(10ms);
        w.there.cut_replica(1);
        auto to_and_fro = [](MemoryFailover& of) -> story {
            co_await of.sleep_for(100ms);
            of.there.promote(1);
            of.there.demote(0);
            co_await of.sleep_for(20ms);
            of.there.promote(0); // and knows no more of what it granted
            of.there.demote(1);
        };
        asio::co_spawn(w.io, to_and_fro(w), asio::detached);
        w.notice = std::nullopt;
        EXPECT_EQ(co_await failure_of(w.line_up(1)->look()), store_errc::not_replicated);
        EXPECT_EQ(w.there.held_count(), 0u);
    }(*this));
}

TEST_F(MemoryFailover, AMachineThatStandsStillCarriesOutWhatCameWhenItGoesOn) {
    play([](MemoryFailover& w) -> story {
        w.there.stop(0);
        auto resume = [](MemoryFailover& of) -> story {
            co_await of.sleep_for(1s);
            of.there.resume(0);
        };
        asio::co_spawn(w.io, resume(w), asio::detached);
        EXPECT_TRUE((co_await w.line_up(0)->look()).granted);
        EXPECT_EQ(w.passed(), 1s);
    }(*this));
}

TEST_F(MemoryFailover, ItIsTooLateThenForWhatHadADeadline) {
    play([](MemoryFailover& w) -> story {
        w.there.stop(0);
        const auto spot = w.line_up(0);
        EXPECT_EQ(co_await failure_of(spot->look()), errc::outcome_unknown);
        w.there.resume(0);
        co_await w.sleep_for(1ms);
        EXPECT_EQ(w.there.held_count(), 0u);
    }(*this));
}

TEST_F(MemoryFailover, ADeadlineIsJudgedByTheClockOfTheServerThatItIsSentTo) {
    for (const duration ahead : {1h, -2h}) {
        const std::size_t next = 1 - there.primary();
        there.step_clock(next, ahead);
        there.promote(next);
        clock.run_for(10ms);
        play([](MemoryFailover& w) -> story {
            w.fates = {{.request_delay = 2999ms}};
            (void)co_await failure_of(w.line_up(0)->look());
            EXPECT_EQ(w.there.held_count(), 0u) << "too late";
            EXPECT_TRUE((co_await w.line_up(0, 1ms)->look()).granted) << "in time";
            co_await w.sleep_for(1ms);
        }(*this));
        there.demote(1 - next);
    }
}

TEST_F(MemoryFailover, WhoListensIsMovedAndRungOnce) {
    play([](MemoryFailover& w) -> story {
        w.there.occupy("stock", 1h);
        co_await w.sleep_for(10ms);
        const auto spot = w.line_up(0);
        EXPECT_FALSE((co_await spot->look()).granted);
        EXPECT_FALSE((co_await spot->look()).granted);
        w.there.promote(1);
        co_await w.wake->wait_until(w.clock.now() + 1h);
        EXPECT_EQ(w.passed(), 10ms) << "rung by the move";
        EXPECT_FALSE((co_await spot->look()).granted);
        w.there.vacate("stock");
        co_await w.wake->wait_until(w.clock.now() + 1h);
        EXPECT_EQ(w.passed(), 10ms) << "rung by the release at the new primary";
    }(*this));
}

TEST_F(MemoryFailover, ADemotedPrimaryHasItsOwnUntilAllHasArrived) {
    const auto shows = [this](const char* name) { return there.inspect(name).has_value(); };
    const auto diverge = [this](const char* old, const char* newer) {
        there.promote(1);
        (void)there.inside()->look(alice.wants(newer, 1h), std::nullopt);
        (void)there.machines()->at(0)->look(alice.wants(old, 1h), std::nullopt);
        there.demote(0);
    };
    diverge("old", "new");
    clock.run_for(4ms);
    there.promote(0);
    EXPECT_TRUE(shows("old"));
    EXPECT_FALSE(shows("new"));
    there.demote(1);
    clock.run_for(10ms);
    diverge("older", "newer");
    clock.run_for(5ms);
    there.promote(0);
    EXPECT_FALSE(shows("older"));
    EXPECT_TRUE(shows("newer"));
}

TEST_F(MemoryFailover, ThePrimaryCannotBeDemotedBeforeAnotherIsPromoted) {
    EXPECT_THROW(there.demote(0), std::logic_error);
    EXPECT_THROW(there.promote(7), std::out_of_range);
}

} // namespace
} // namespace holdfast::memory
