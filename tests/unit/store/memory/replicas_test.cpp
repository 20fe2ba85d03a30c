// SPDX-License-Identifier: Apache-2.0
// What replicas confirm, and what is made of a confirmation that is missing.
#include "replica_world.hpp"

#include <gmock/gmock.h>

namespace holdfast::memory {
namespace {

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
        EXPECT_EQ(w.there.held_count(), 1u);
        co_await spot->leave();
        EXPECT_FALSE(spot->must_leave());
        EXPECT_EQ(w.there.held_count(), 0u);
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
        EXPECT_EQ(w.there.inside()->confirmed(0), 1u);
        w.there.stop(1);
        co_await w.alice.line_up("other")->look();
        EXPECT_EQ(w.there.inside()->confirmed(0), 1u) << "as of WAIT after no write";
        EXPECT_EQ(w.there.inside()->confirmed(w.there.inside()->writes()), 0u);
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
        const renewal_wishes how{.lease_time = 30s};
        single_renewal outcome;
        co_await w.carols->locks().renew(one, how, outcome);
        EXPECT_FALSE(outcome.said().granted);
    }(*this));
}

TEST_F(MemoryReplicas, OneThatIsSentAllAnewConfirmsNothingUntilThatHasArrived) {
    clock.run_for(10ms);
    const auto primary_now = there.inside();
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
    (void)there.inside()->look(alice.wants("stock", 1h), std::nullopt);
    clock.run_for(10ms);
    there.restart_empty(0);
    clock.run_for(5ms);
    there.promote(1);
    EXPECT_FALSE(there.inspect("stock"));
}

TEST_F(MemoryReplicas, AChangeOfACounterThatIsRepeatedCountsOnceAndIsConfirmedAnew) {
    play([](MemoryReplicas& w) -> story {
        co_await w.sleep_for(10ms);
        w.there.cut_replica(1);
        EXPECT_EQ(co_await failure_of(w.add_seats(1)), store_errc::not_replicated);
        EXPECT_EQ(co_await failure_of(w.add_seats(1)), store_errc::not_replicated);
        EXPECT_EQ(w.there.counter("seats"), 3);
        w.there.restart_empty(1);
        co_await w.sleep_for(10ms);
        EXPECT_EQ(co_await failure_of(w.add_seats(1)), error_code{});
        EXPECT_EQ(w.there.counter("seats"), 3);
    }(*this));
}

TEST_F(MemoryReplicas, PermitsThatAreTakenAndNotConfirmedMustBeLeft) {
    there.add_to_counter("seats", 3);
    there.cut_replica(1);
    play([](MemoryReplicas& w) -> story {
        const auto spot = w.line_up_for_seats(1);
        EXPECT_EQ(co_await failure_of(spot->look()), store_errc::not_replicated);
        EXPECT_EQ(w.there.counter("seats"), 1);
        EXPECT_TRUE(spot->must_leave());
        co_await spot->leave();
        EXPECT_EQ(w.there.counter("seats"), 3);
    }(*this));
}

} // namespace
} // namespace holdfast::memory
