// SPDX-License-Identifier: Apache-2.0
// A replica becomes the primary: which data it has, and when clients learn about it.
#include "memory_world.hpp"
#include "support/holds.hpp"

#include <stdexcept>

#include <gmock/gmock.h>

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
        EXPECT_EQ(primary_number(w.there), 1u);
        EXPECT_TRUE(inspect(w.there, "reached"));
        EXPECT_FALSE(inspect(w.there, "late"));
        co_await w.sleep_for(10ms);
        EXPECT_FALSE(inspect(w.there, "late")) << "nothing comes behind the promotion";
    }(*this));
}

TEST_F(MemoryFailover, EndsOfLeasesTravelAsDatesOfThePrimarysClock) {
    there.step_clock(1, 20s);
    play([](MemoryFailover& w) -> story {
        co_await w.sleep_for(10ms);
        co_await w.alice.line_up("stock", 30s)->look();
        co_await w.sleep_for(5ms);
        w.there.promote(1);
        EXPECT_EQ(inspect(w.there, "stock")->remaining, 10s - 5ms);
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
        EXPECT_EQ(w.told.at(0).name, primary_state(w.there)->id());
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
        announce(w.there, 1);
        co_await w.sleep_for(299ms);
        co_await w.line_up(0)->look();
        EXPECT_EQ(w.last_sent_to, 0u) << "late";
        co_await w.sleep_for(1ms);
        co_await w.line_up(0)->look();
        EXPECT_EQ(w.last_sent_to, 1u);

        w.there.demote(0);
        w.notice = 0ms;
        announce(w.there, 0);
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
        EXPECT_EQ(held_count(w.there), 0u);
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
        EXPECT_EQ(held_count(w.there), 0u);
    }(*this));
}

TEST_F(MemoryFailover, ADeadlineIsJudgedByTheClockOfTheServerThatItIsSentTo) {
    for (const duration ahead : {1h, -2h}) {
        const std::size_t next = 1 - primary_number(there);
        there.step_clock(next, ahead);
        there.promote(next);
        clock.run_for(10ms);
        play([](MemoryFailover& w) -> story {
            w.fates = {{.request_delay = 2999ms}};
            (void)co_await failure_of(w.line_up(0)->look());
            EXPECT_EQ(held_count(w.there), 0u) << "too late";
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
    const auto shows = [this](const char* name) { return inspect(there, name).has_value(); };
    const auto diverge = [this](const char* old, const char* newer) {
        there.promote(1);
        (void)primary_state(there)->look(alice.wants(newer, 1h), std::nullopt);
        (void)machines(there)->at(0)->look(alice.wants(old, 1h), std::nullopt);
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

// Confirmations by replicas, and the handling of missing confirmations.

TEST_F(MemoryReplicas, AServerThatNeverHadOneConfirmsAnyNumberAtOnce) {
    play([](MemoryReplicas& w) -> story {
        server alone{w.clock};
        guest dora{w.io, w.clock, alone.connect(), 'd'};
        ask want = dora.wants("stock", 30s);
        want.replicas = dora.home->locks().bounds().replicas_max;
        EXPECT_EQ(want.replicas, 100);
        const auto spot = dora.home->locks().line_up(std::move(want), *dora.wake);
        EXPECT_TRUE((co_await spot->look()).granted);
        EXPECT_EQ(w.passed(), 0ms);
    }(*this));
}

TEST_F(MemoryReplicas, AGrantIsConfirmedWhenTheReplicaHasItAndHasSaidSo) {
    play([](MemoryReplicas& w) -> story {
        co_await w.sleep_for(10ms);
        const auto spot = w.line_up(1);
        EXPECT_TRUE((co_await spot->look()).granted);
        EXPECT_EQ(w.passed(), 20ms);
    }(*this));
}

TEST_F(MemoryReplicas, WhoRequiresNoneDoesNotWait) {
    play([](MemoryReplicas& w) -> story {
        const auto spot = w.line_up(0);
        EXPECT_TRUE((co_await spot->look()).granted);
        EXPECT_EQ(w.passed(), 0ms);
    }(*this));
}

TEST_F(MemoryReplicas, AGrantThatTooFewConfirmThrowsAndMustBeLeft) {
    there.cut_replica(1);
    play([](MemoryReplicas& w) -> story {
        const auto spot = w.line_up(1);
        try {
            (void)co_await spot->look();
            ADD_FAILURE() << "nobody confirmed it";
        } catch (const boost::system::system_error& e) {
            EXPECT_EQ(e.code(), store_errc::not_replicated);
            EXPECT_THAT(e.what(), testing::HasSubstr("0 of 1 replicas confirmed within 1000 ms"));
        }
        EXPECT_EQ(w.passed(), 1s);
        EXPECT_TRUE(spot->must_leave());
        EXPECT_FALSE(spot->uncertain()) << "it was answered";
        EXPECT_EQ(held_count(w.there), 1u);
        co_await spot->leave();
        EXPECT_FALSE(spot->must_leave());
        EXPECT_EQ(held_count(w.there), 0u);
    }(*this));
}

TEST_F(MemoryReplicas, TheWaitForThemIsNeverLongerThanAThirdOfTheLease) {
    there.cut_replica(1);
    play([](MemoryReplicas& w) -> story {
        const auto spot = w.line_up(1, 300ms);
        EXPECT_EQ(co_await failure_of(spot->look()), store_errc::not_replicated);
        EXPECT_EQ(w.passed(), 100ms);
    }(*this));
}

TEST_F(MemoryReplicas, ARepetitionOverANewConnectionIsConfirmedOnlyByWhoHasIt) {
    play([](MemoryReplicas& w) -> story {
        co_await w.sleep_for(10ms);
        w.there.stop(1);
        w.fates = {{.answer_lost = true}};
        const auto spot = w.line_up(1);
        EXPECT_EQ(co_await failure_of(spot->look()), errc::outcome_unknown);
        EXPECT_EQ(co_await failure_of(spot->look()), store_errc::not_replicated);
        w.there.resume(1);
        EXPECT_TRUE((co_await spot->look()).granted);
    }(*this));
}

TEST_F(MemoryReplicas, AConnectionThatWroteNothingIsConfirmedByAReplicaThatStandsStill) {
    play([](MemoryReplicas& w) -> story {
        co_await w.sleep_for(10ms);
        EXPECT_EQ(primary_state(w.there)->confirmed(0), 1u);
        w.there.stop(1);
        co_await w.alice.line_up("other")->look();
        EXPECT_EQ(primary_state(w.there)->confirmed(0), 1u) << "as of WAIT after no write";
        EXPECT_EQ(primary_state(w.there)->confirmed(primary_state(w.there)->writes()), 0u);
    }(*this));
}

TEST_F(MemoryReplicas, ARenewalThatTooFewConfirmFailsAndAQuestionWaitsForNone) {
    play([](MemoryReplicas& w) -> story {
        co_await w.sleep_for(10ms);
        EXPECT_TRUE((co_await w.line_up(1)->look()).granted);
        EXPECT_EQ(co_await w.renew(w.last(), 1), error_code{});
        w.there.cut_replica(1);
        EXPECT_EQ(co_await w.renew(w.last(), 1), store_errc::not_replicated);
        const duration before = w.passed();
        EXPECT_EQ(co_await w.renew(w.last(), 1, 0ms), error_code{});
        EXPECT_EQ(w.passed(), before);
    }(*this));
}

TEST_F(MemoryReplicas, AHoldThatIsGoneIsRefusedWhoeverConfirmsIt) {
    there.cut_replica(1);
    play([](MemoryReplicas& w) -> story {
        hold never = w.last();
        never.replicas = 1;
        const hold* const one[] = {&never};
        const renewal_options how{.lease_time = 30s};
        single_renewal outcome;
        co_await w.carols->locks().renew(one, how, outcome);
        EXPECT_FALSE(outcome.said().granted);
    }(*this));
}

TEST_F(MemoryReplicas, OneThatIsSentAllAnewConfirmsNothingUntilThatHasArrived) {
    clock.run_for(10ms);
    const auto primary_now = primary_state(there);
    const auto& primary = *primary_now;
    EXPECT_EQ(primary.confirmed(0), 1u);
    there.restart_empty(1);
    EXPECT_EQ(primary.confirmed(0), 0u);
    clock.run_for(9ms);
    EXPECT_EQ(primary.confirmed(0), 0u);
    clock.run_for(1ms);
    EXPECT_EQ(primary.confirmed(primary.writes()), 1u);
}

TEST_F(MemoryReplicas, APrimaryThatIsRestartedEmptyEmptiesItsReplicas) {
    (void)primary_state(there)->look(alice.wants("stock", 1h), std::nullopt);
    clock.run_for(10ms);
    there.restart_empty(0);
    clock.run_for(5ms);
    there.promote(1);
    EXPECT_FALSE(inspect(there, "stock"));
}

TEST_F(MemoryReplicas, AChangeOfACounterThatIsRepeatedCountsOnceAndIsConfirmedAnew) {
    play([](MemoryReplicas& w) -> story {
        co_await w.sleep_for(10ms);
        w.there.cut_replica(1);
        EXPECT_EQ(co_await failure_of(w.add_seats(1)), store_errc::not_replicated);
        EXPECT_EQ(co_await failure_of(w.add_seats(1)), store_errc::not_replicated);
        EXPECT_EQ(counter(w.there, "seats"), 3);
        w.there.restart_empty(1);
        co_await w.sleep_for(10ms);
        EXPECT_EQ(co_await failure_of(w.add_seats(1)), error_code{});
        EXPECT_EQ(counter(w.there, "seats"), 3);
    }(*this));
}

TEST_F(MemoryReplicas, PermitsThatAreTakenAndNotConfirmedMustBeLeft) {
    add_to_counter(there, "seats", 3);
    there.cut_replica(1);
    play([](MemoryReplicas& w) -> story {
        const auto spot = w.line_up_for_seats(1);
        EXPECT_EQ(co_await failure_of(spot->look()), store_errc::not_replicated);
        EXPECT_EQ(counter(w.there, "seats"), 1);
        EXPECT_TRUE(spot->must_leave());
        co_await spot->leave();
        EXPECT_EQ(counter(w.there, "seats"), 3);
    }(*this));
}

// A server that keeps holds by session: what ends them, and what prolongs them.

struct MemorySession : testing::Test {
    asio::io_context io;
    sim::sim_clock clock{io};
    server there{clock};
    fate of_all{};        ///< of Alice's requests
    std::string silent{}; ///< but about that name nothing is heard
    std::optional<guest> alice, bob;

    MemorySession() {
        there.keep_by_session(10s);
        const auto meets = [this](const request& r) {
            return r.name == silent ? fate{.request_lost = true} : of_all;
        };
        alice.emplace(io, clock, there.connect(meets), 'a');
        bob.emplace(io, clock, there.connect(), 'b');
    }

    void play(asio::awaitable<void> story) {
        bool ended = false;
        asio::co_spawn(io, std::move(story), [&ended](const std::exception_ptr& e) {
            ended = true;
            if (e)
                std::rethrow_exception(e);
        });
        for (clock.run_for(0ms); !ended;)
            clock.run_for(100ms);
    }
    answer taken(guest& who, ask want) {
        answer said;
        play([](MemorySession&, guest& of, ask wanted, answer& to) -> asio::awaitable<void> {
            const auto spot = of.home->locks().line_up(std::move(wanted), *of.wake);
            to = co_await spot->look();
        }(*this, who, std::move(want), said));
        return said;
    }
    static ask of_kind(guest& who, std::string name, lock_kind kind) {
        ask want{std::move(name), who.id, kind};
        want.lease_time = 3s;
        return want;
    }
    error_code release(guest& who, hold what) {
        error_code came_of_it;
        play([](guest& of, hold its, error_code& to) -> asio::awaitable<void> {
            try {
                (void)co_await of.home->locks().release(std::move(its));
            } catch (const boost::system::system_error& e) {
                to = e.code();
            }
        }(who, std::move(what), came_of_it));
        return came_of_it;
    }
    error_code release(guest& who, std::string name) { return release(who, who.held(name)); }
    void ask_about_something(guest& who) {
        play([](guest& of) -> asio::awaitable<void> {
            (void)co_await of.home->operators_view().inspect("something else");
        }(who));
    }
};

TEST_F(MemorySession, AGrantHasTheSessionWhateverWasAskedFor) {
    EXPECT_EQ(taken(*alice, alice->wants("stock", 3s)).term, 10s);
    EXPECT_EQ(inspect(there, "stock")->remaining, 10s);
    EXPECT_EQ(taken(*alice, alice->wants("more", 1h)).term, 10s);
    EXPECT_TRUE(alice->home->locks().bounds().by_session);
    EXPECT_EQ(alice->home->locks().bounds().replicas_max, 0);
}

TEST_F(MemorySession, AnyRequestOfItsClientProlongsAllThatItHolds) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    for (const lock_kind kind : {lock_kind::read, lock_kind::write, lock_kind::token})
        ASSERT_TRUE(
            taken(*alice, of_kind(*alice, std::to_string(static_cast<int>(kind)), kind)).granted);
    for (int i = 0; i < 5; ++i) {
        clock.run_for(9s);
        ask_about_something(*alice);
    }
    EXPECT_EQ(held_count(there), 4u);
    clock.run_for(9s);
    ask_about_something(*bob);
    clock.run_for(1s);
    EXPECT_EQ(held_count(there), 0u);
}

TEST_F(MemorySession, WhatHasEndedIsNotProlonged) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    clock.run_for(10s);
    ask_about_something(*alice);
    EXPECT_FALSE(inspect(there, "stock"));
    EXPECT_TRUE(taken(*bob, bob->wants("stock", 3s)).granted);
}

TEST_F(MemorySession, AQuestionIsAnsweredWithTheRestOfIt) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    play([](guest& of) -> asio::awaitable<void> {
        const hold mine = of.held("stock");
        const hold* const one[] = {&mine};
        single_renewal outcome;
        co_await of.home->locks().renew(one, {}, outcome);
        EXPECT_TRUE(outcome.said().granted);
        EXPECT_EQ(outcome.said().term, 10s);
    }(*alice));
}

TEST_F(MemorySession, AReleaseThatWasNotAcknowledgedIsRepeated) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    of_all.denied = true;
    EXPECT_EQ(release(*alice, "stock"), errc::refused);
    clock.run_for(1min);
    EXPECT_TRUE(inspect(there, "stock")) << "each of them prolongs the session";
    of_all = {};
    clock.run_for(1s);
    EXPECT_FALSE(inspect(there, "stock"));
}

TEST_F(MemorySession, SoIsALeaving) {
    play([](MemorySession& w) -> asio::awaitable<void> {
        const auto spot = w.alice->line_up("stock", 3s);
        (void)co_await spot->look();
        w.of_all.refused = true;
        try {
            co_await spot->leave();
        } catch (const boost::system::system_error&) {
            w.of_all = {};
        }
    }(*this));
    clock.run_for(1s);
    EXPECT_FALSE(inspect(there, "stock"));
}

// Faults that simulations have found.
TEST_F(MemorySession, OneThatIsNotAnsweredKeepsNoOtherWaiting) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    ask more = alice->wants("more", 3s);
    ++more.owner.number;
    ASSERT_TRUE(taken(*alice, more).granted);
    of_all.denied = true;
    EXPECT_EQ(release(*alice, "stock"), errc::refused);
    EXPECT_EQ(release(*alice, static_cast<const hold&>(more)), errc::refused);
    of_all = {};
    silent = "stock";
    clock.run_for(1s);
    EXPECT_FALSE(inspect(there, "more"));
}

TEST_F(MemorySession, ARepetitionEndsWithTheClient) {
    ASSERT_TRUE(taken(*alice, alice->wants("stock", 3s)).granted);
    of_all.request_lost = true;
    EXPECT_EQ(release(*alice, "stock"), errc::outcome_unknown);
    alice->home->close();
    clock.run_for(10s);
    EXPECT_FALSE(inspect(there, "stock")) << "nothing prolongs it any more";
}

TEST_F(MemorySession, AFencedGrantHasOneTokenThatOperatorsSee) {
    ask want = of_kind(*alice, "stock", lock_kind::fenced);
    want.tokens = 50;
    const answer said = taken(*alice, want);
    EXPECT_EQ(said.tokens, 1u);
    play([](guest& of, std::uint64_t token) -> asio::awaitable<void> {
        const auto state = co_await of.home->operators_view().describe("stock");
        EXPECT_EQ(state->token, token);
        EXPECT_EQ(state->last_token, token);
    }(*bob, said.token));
}

TEST_F(MemorySession, ThereAreNoReplicas) {
    EXPECT_THROW(there.replicate(1), std::logic_error);
    server replicated{clock};
    replicated.replicate(1);
    EXPECT_THROW(replicated.keep_by_session(10s), std::logic_error);
}

} // namespace
} // namespace holdfast::memory
