// SPDX-License-Identifier: Apache-2.0
// A primary with replicas, as WAIT, a failover and clocks of their own make it.
#include "memory_world.hpp"
#include "store/memory/group.hpp"

#include <optional>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::memory {
namespace {

struct MemoryReplicas : MemoryWorld {
    struct told_event {
        event_kind kind;
        std::string name, text;
    };

    void SetUp() override { there.replicate(1, 5ms); }

    std::optional<duration> notice{0ms}; ///< of the next announcement
    std::vector<told_event> told;
    int doubts = 0;
    std::size_t last_sent_to = 99;
    std::unique_ptr<store> carols =
        there.connect(way{.faults =
                              [this](const request& r) {
                                  last_sent_to = r.to;
                                  return next_fate();
                              },
                          .command_timeout = 3s,
                          .notices = [this] { return notice; }})(store_context{
            .executor = io.get_executor(),
            .time = clock,
            .random = [] { return std::uint64_t{0}; },
            .client = {'c'},
            .label = {},
            .poll_bound = 5s,
            .tell =
                [this](const event& e) {
                    told.push_back({e.kind, {e.name, e.name_size}, {e.text, e.text_size}});
                },
            .doubt = [this](const auto&, bool urgent) { doubts += urgent ? 1 : 100; }});
    const std::unique_ptr<alarm> wake = clock.make_alarm();
    std::uint64_t number = 0;

    /// Carol's, with a number of its own.
    ask wants(unsigned replicas, duration lease = 30s) {
        ask want{"stock", owner_id{{'c'}, ++number}, lock_kind::plain};
        want.lease_time = lease;
        want.give_up_at = time_point::max();
        want.replicas = static_cast<std::uint8_t>(replicas);
        return want;
    }
    std::unique_ptr<place> line_up(unsigned replicas, duration lease = 30s) {
        return carols->locks().line_up(wants(replicas, lease), *wake);
    }
    asio::awaitable<error_code> renew(hold held, unsigned replicas, duration length = 30s) {
        held.replicas = static_cast<std::uint8_t>(replicas);
        const hold* const one[] = {&held};
        const renewal_wishes how{.lease_time = length};
        single_renewal outcome;
        co_await carols->locks().renew(one, how, outcome);
        error_code failed;
        try {
            EXPECT_TRUE(outcome.said().granted);
        } catch (const boost::system::system_error& e) {
            failed = e.code();
        }
        co_return failed;
    }
    asio::awaitable<counter_answer> add_seats(std::uint64_t request) {
        counter_change add{"seats", owner_id{{'c'}, request}, counter_kind::semaphore,
                           counter_verb::add, 3};
        add.replicas = 1;
        return carols->counters()->change(std::move(add));
    }
    std::unique_ptr<place> line_up_for_seats(unsigned replicas) {
        counter_ask want{"seats", owner_id{{'c'}, ++number}, counter_kind::semaphore, 2};
        want.replicas = static_cast<std::uint8_t>(replicas);
        return carols->counters()->line_up(std::move(want), *wake);
    }
    hold last() const { return {"stock", owner_id{{'c'}, number}, lock_kind::plain}; }
};

using story = asio::awaitable<void>;

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

TEST_F(MemoryReplicas, AReplicaIsPromotedWithWhatHasReachedIt) {
    play([](MemoryReplicas& w) -> story {
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

TEST_F(MemoryReplicas, EndsOfLeasesTravelAsDatesOfThePrimarysClock) {
    there.step_clock(1, 20s);
    play([](MemoryReplicas& w) -> story {
        co_await w.sleep_for(10ms);
        co_await w.alice.line_up("stock", 30s)->look();
        co_await w.sleep_for(5ms);
        w.there.promote(1);
        EXPECT_EQ(w.there.inspect("stock")->remaining, 10s - 5ms);
    }(*this));
}

TEST_F(MemoryReplicas, WhoIsToldOfASwitchGoesThereDoubtsItsHoldsAndSaysSo) {
    play([](MemoryReplicas& w) -> story {
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

TEST_F(MemoryReplicas, NewsComeLateEarlyOrNeverAsTheTestHasIt) {
    play([](MemoryReplicas& w) -> story {
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

TEST_F(MemoryReplicas, WhoAsksADemotedOneWithoutNewsIsSentOn) {
    play([](MemoryReplicas& w) -> story {
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

TEST_F(MemoryReplicas, WhatIsUnderWayWhenTheClientMovesIsUnknownAtOnce) {
    fates = {{.answer_delay = 2s}};
    play([](MemoryReplicas& w) -> story {
        auto promote = [](MemoryReplicas& of) -> story {
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

TEST_F(MemoryReplicas, AMachineThatStandsStillCarriesOutWhatCameWhenItGoesOn) {
    play([](MemoryReplicas& w) -> story {
        w.there.stop(0);
        auto resume = [](MemoryReplicas& of) -> story {
            co_await of.sleep_for(1s);
            of.there.resume(0);
        };
        asio::co_spawn(w.io, resume(w), asio::detached);
        EXPECT_TRUE((co_await w.line_up(0)->look()).granted);
        EXPECT_EQ(w.passed(), 1s);
    }(*this));
}

TEST_F(MemoryReplicas, ItIsTooLateThenForWhatHadADeadline) {
    play([](MemoryReplicas& w) -> story {
        w.there.stop(0);
        const auto spot = w.line_up(0);
        EXPECT_EQ(co_await failure_of(spot->look()), errc::outcome_unknown);
        w.there.resume(0);
        co_await w.sleep_for(1ms);
        EXPECT_EQ(w.there.held_count(), 0u);
    }(*this));
}

TEST_F(MemoryReplicas, ADeadlineIsJudgedByTheClockOfTheServerThatItIsSentTo) {
    for (const duration ahead : {1h, -2h}) {
        const std::size_t next = 1 - there.primary();
        there.step_clock(next, ahead);
        there.promote(next);
        clock.run_for(10ms);
        play([](MemoryReplicas& w) -> story {
            w.fates = {{.request_delay = 2999ms}};
            (void)co_await failure_of(w.line_up(0)->look());
            EXPECT_EQ(w.there.held_count(), 0u) << "too late";
            EXPECT_TRUE((co_await w.line_up(0, 1ms)->look()).granted) << "in time";
            co_await w.sleep_for(1ms);
        }(*this));
        there.demote(1 - next);
    }
}

TEST_F(MemoryReplicas, WhoListensIsMovedAndRungOnce) {
    play([](MemoryReplicas& w) -> story {
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

TEST_F(MemoryReplicas, ADemotedPrimaryHasItsOwnUntilAllHasArrived) {
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

TEST_F(MemoryReplicas, ThePrimaryCannotBeDemotedBeforeAnotherIsPromoted) {
    EXPECT_THROW(there.demote(0), std::logic_error);
    EXPECT_THROW(there.promote(7), std::out_of_range);
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
