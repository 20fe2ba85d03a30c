// SPDX-License-Identifier: Apache-2.0
// Renewals without a reply, because the connection is dead without notice.
#include "sync/release.hpp"
#include "sync/retry_policy.hpp"
#include "unit/sync/stage.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/fair_mutex.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>
#include <holdfast/spin_mutex.hpp>
#include <holdfast/token_mutex.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::sync {
namespace {

class Silence : public on_stage {
protected:
    /// The store's own time limit is no help: it is longer than what is left of the lease.
    actor& alice = enter({.lease_time = 30s}, 10s);

    void swallow_next_renewal() {
        alice.planned.emplace_back(verb::renew, fate{.request_lost = true});
    }
    std::vector<duration> asked_at(verb what) const {
        std::vector<duration> moments;
        for (const sent& each : alice.all(what))
            moments.push_back(each.at - start());
        return moments;
    }
};

TEST_F(Silence, AShortLeaseSurvivesARenewalThatIsNeverAnswered) {
    for (const duration length : {duration{30s}, duration{9s}, duration{5s}, duration{2s},
                                  duration{1s}}) { // the shortest last: it is warned
        for (const std::uint64_t chance : {0u, 500u, 1'000u}) {
            alice.dice = chance;
            mutex lock{alice, "stock", lease_time{length}};
            lease held = taken(lock);
            swallow_next_renewal();
            run_for(length * 3);
            EXPECT_TRUE(held.owns_lock()) << length.count() << " ms, chance " << chance;
            EXPECT_TRUE(alice.planned.empty());
            if (length > 1s) {
                EXPECT_EQ(alice.ear->count(event_kind::in_danger), 0u) << "there was time";
            }
            held.async_unlock(said{}.handler());
            settle();
        }
    }
}

TEST_F(Silence, AFixedLeaseIsCheckedAgainToo) {
    mutex lock{alice, "stock"};
    const lease held = taken(lock, lease_time{9s});
    swallow_next_renewal();
    run_for(3s + 10ms);
    server.evict("stock");
    run_for(3s);
    EXPECT_FALSE(held.owns_lock()) << "nobody asked again before its end";
}

TEST_F(Silence, AfterAPartOfWhatIsLeftItIsAskedAgainHereAndElsewhere) {
    mutex lock{alice, "stock", lease_time{5s}};
    const lease held = taken(lock);
    swallow_next_renewal();
    run_for(5s);
    const auto& wishes = alice.meddling.wishes;
    ASSERT_GE(wishes.size(), 4u);
    const std::vector<duration> moments = asked_at(verb::renew);
    EXPECT_EQ(wishes[0].answer_by, start() + moments[0] + 5s) << "a late answer counts";
    EXPECT_FALSE(wishes[0].elsewhere);
    EXPECT_EQ(moments[1], moments[2]);
    EXPECT_NE(wishes[1].elsewhere, wishes[2].elsewhere);
    EXPECT_GE(moments[1] - moments[0], 5s / 10);
    EXPECT_LE(moments[1] - moments[0], 5'000ms / 4);
    EXPECT_FALSE(wishes[3].elsewhere) << "the second one was answered";
}

TEST_F(Silence, EachWaitForAnAnswerIsLongerThanTheOneBefore) {
    mutex lock{alice, "stock", lease_time{9s}};
    const lease held = taken(lock);
    alice.always.request_lost = true;
    run_for(9s);
    std::vector<duration> moments = asked_at(verb::renew);
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    ASSERT_GE(moments.size(), 3u);
    EXPECT_GT(moments[2] - moments[1], moments[1] - moments[0]);
    EXPECT_FALSE(held.owns_lock());
}

TEST_F(Silence, OfThreeRenewalsOfFiveSecondsTheLastOneSavesIt) {
    mutex lock{alice, "stock", lease_time{5s}};
    const lease held = taken(lock);
    swallow_next_renewal();
    swallow_next_renewal();
    run_for(20s);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(Silence, AFarServerHasTimeToAnswerWhateverTheLease) {
    mutex lock{alice, "stock", lease_time{1s}};
    const lease held = taken(lock);
    alice.always = {.request_delay = 125ms, .answer_delay = 125ms};
    run_for(1min);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(alice.ear->count(event_kind::renewal_failed), 0u);
}

TEST_F(Silence, ARenewalThatWasGivenUpMayHaveBeenCarriedOutAndIsReleasedAfterTheEnd) {
    mutex lock{alice, "stock", lease_time{5s}};
    const lease held = taken(lock);
    alice.always = {.answer_lost = true};
    run_for(4s);
    alice.always = {.refused = true};
    run_for(2s);
    EXPECT_FALSE(held.owns_lock());
    EXPECT_EQ(held_count(server), 1u) << "the store still has it";
    alice.always = {};
    run_for(1s);
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Silence, AnExtensionThatIsNotAnsweredIsAskedOnceMoreElsewhere) {
    mutex lock{alice, "stock"};
    lease held = taken(lock, lease_time{5s});
    swallow_next_renewal();
    said<> extended;
    held.async_extend(lease_time{1min}, extended.handler());
    run_for(3s);
    EXPECT_TRUE(extended.well());
    run_for(50s);
    EXPECT_TRUE(held.owns_lock());
    ASSERT_GE(alice.meddling.wishes.size(), 2u);
    EXPECT_FALSE(alice.meddling.wishes[0].elsewhere);
    EXPECT_TRUE(alice.meddling.wishes[1].elsewhere);
}

TEST_F(Silence, AnExtensionEndsWithItsHold) {
    mutex lock{alice, "stock"};
    lease held = taken(lock, lease_time{5s});
    alice.always.request_lost = true;
    said<> extended;
    held.async_extend(lease_time{1min}, extended.handler());
    run_for(5s - 52ms);
    EXPECT_TRUE(extended.done());
    EXPECT_TRUE(extended.code());
}

TEST_F(Silence, AnExtensionIsNotAskedTwiceWhereTheStoreItselfGaveUp) {
    actor& bob = enter({}, 1s);
    mutex lock{bob, "stock"};
    lease held = taken(lock, lease_time{1h});
    bob.always.request_lost = true;
    said<> extended;
    held.async_extend(lease_time{2h}, extended.handler());
    run_for(1s);
    EXPECT_TRUE(extended.failed(errc::outcome_unknown));
    EXPECT_EQ(bob.count(verb::renew), 1u);
}

// The result of one name does not affect the other names of the same request.

class Siblings : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s}, 1s);
    mutex stock{alice, "stock"}, shelf{alice, "shelf"}, desk{alice, "desk"};
    lease first = taken(stock), second = taken(shelf), third = taken(desk);

    void spoil_the_second() {
        alice.meddling.spoils = [](const hold& asked) {
            return asked.name == "shelf" ? make_error_code(errc::refused) : error_code{};
        };
    }
};

TEST_F(Siblings, AFailureOfOneNameDoesNotDisturbTheOthers) {
    spoil_the_second();
    run_for(1min);
    EXPECT_TRUE(first.owns_lock());
    EXPECT_FALSE(second.owns_lock());
    EXPECT_TRUE(third.owns_lock());
    EXPECT_EQ(alice.ear->count(event_kind::lost), 1u);
    EXPECT_EQ(alice.ear->count(event_kind::in_danger), 1u);
    EXPECT_GE(first.remaining(), 19s);
}

TEST_F(Siblings, WhatWasAnsweredCountsEvenIfASiblingFailed) {
    spoil_the_second();
    server.evict("desk");
    run_for(10s);
    EXPECT_EQ(alice.count(verb::renew), 1u) << "they travel together";
    EXPECT_EQ(first.remaining(), 30s - 302ms);
    EXPECT_TRUE(second.owns_lock()) << "a failure is not yet a loss";
    EXPECT_EQ(second.remaining(), 20s - 302ms);
    EXPECT_FALSE(third.owns_lock()) << "a refusal is";
}

TEST_F(Siblings, OnlyWhatFailedIsAskedForAgain) {
    spoil_the_second();
    run_for(10s);
    alice.meddling.spoils = nullptr;
    run_for(1s);
    ASSERT_EQ(alice.count(verb::renew), 2u);
    const sent again = alice.all(verb::renew).back();
    ASSERT_EQ(again.holds.size(), 1u);
    EXPECT_EQ(again.holds.front().name, lock_name{"shelf"});
    EXPECT_EQ(second.remaining(), 30s - 302ms);
}

TEST_F(Siblings, OneThatIsReleasedByTheLossOfAnotherIsLeftAlone) {
    said<> released;
    const std::stop_callback on_loss{first.lost(), [&] { third.async_unlock(released.handler()); }};
    server.evict("stock");
    run_for(1min);
    EXPECT_TRUE(released.well());
    EXPECT_TRUE(second.owns_lock());
    EXPECT_EQ(alice.ear->count(event_kind::lost), 1u);
}

// After a reconnection the store may have forgotten what it held: every hold is asked for.

class Revalidation : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s, .waiters_max = 20'000}, 1s);
    mutex stock{alice, "stock"};
    std::vector<lease> held;

    renewal& renewals() { return alice.inside.lock()->renewals(); }
    void reconnected(bool urgent) { renewals().revalidate({}, urgent); }

    void take(int count) {
        for (int i = 0; i < count; ++i) {
            mutex each{alice, "lock" + std::to_string(i)};
            held.push_back(taken(each));
        }
        alice.log.clear();
    }
    std::vector<duration> asked_at() const {
        std::vector<duration> moments;
        for (const sent& each : alice.all(verb::renew))
            moments.push_back(each.at - start());
        return moments;
    }
    std::size_t asked_for() const {
        std::set<std::uint64_t> owners;
        for (const sent& each : alice.all(verb::renew))
            for (const hold& one : each.holds)
                owners.insert(one.owner.number);
        return owners.size();
    }
};

TEST_F(Revalidation, AnUrgentOneIsAskedAboutAtOnce) {
    const lease mine = taken(stock);
    run_for(1s);
    server.restart_empty();
    reconnected(true);
    settle();
    EXPECT_EQ(asked_at(), std::vector<duration>{1s});
    EXPECT_TRUE(mine.lost().stop_requested());
}

TEST_F(Revalidation, TenThousandUrgentOnesTravelInBatches) {
    take(10'000);
    run_for(1s);
    reconnected(true);
    settle();
    EXPECT_EQ(asked_for(), 10'000u);
    EXPECT_EQ(alice.count(verb::renew), 10'000u / renewal::batch_holds_max);
    for (const duration each : asked_at())
        EXPECT_EQ(each, 1s);
}

TEST_F(Revalidation, OneThatIsNotUrgentComesByChanceWithinATenthOfTheLease) {
    for (const std::uint64_t chance : {0u, 1'700u, 2'999u}) {
        actor& bob = enter({.lease_time = 30s}, 1s);
        mutex his{bob, "of bob " + std::to_string(chance)};
        const lease mine = taken(his);
        const time_point before = clock.now();
        bob.dice = chance;
        bob.inside.lock()->renewals().revalidate({}, false);
        run_for(3s);
        ASSERT_EQ(bob.count(verb::renew), 1u);
        EXPECT_EQ(bob.all(verb::renew).front().at - before, duration{chance});
    }
}

TEST_F(Revalidation, TenThousandThatAreNotUrgentAreSpreadEvenlyOverATenthOfTheLease) {
    take(10'000);
    run_for(1s);
    reconnected(false);
    run_for(3s);
    EXPECT_EQ(asked_for(), 10'000u);
    std::size_t in_first_half = 0;
    for (const sent& each : alice.all(verb::renew)) {
        EXPECT_LE(each.holds.size(), renewal::batch_holds_max);
        in_first_half += each.at - start() < 1s + 1500ms ? each.holds.size() : 0;
    }
    EXPECT_GE(in_first_half, 4'000u);
    EXPECT_LE(in_first_half, 8'500u) << "those that are nearly due travel along";
}

TEST_F(Revalidation, TheShortestLeaseSaysHowFarTheyAreSpread) {
    mutex brief{alice, "brief", lease_time{6s}};
    const lease of_six = taken(brief), of_thirty = taken(stock);
    alice.dice = 599;
    reconnected(false);
    run_for(600ms);
    EXPECT_EQ(asked_for(), 2u);
}

TEST_F(Revalidation, ItIsAskedAboutOnlyWhatItNames) {
    mutex shelf{alice, "shelf"};
    const lease mine = taken(stock), other = taken(shelf);
    renewals().revalidate([](const lock_name& name) { return name == lock_name{"shelf"}; }, true);
    settle();
    ASSERT_EQ(alice.count(verb::renew), 1u);
    EXPECT_EQ(alice.all(verb::renew).front().holds.front().name, lock_name{"shelf"});
}

TEST_F(Revalidation, AFixedLeaseIsAskedForToo) {
    for (const bool urgent : {true, false}) {
        mutex lock{alice, urgent ? "urgent" : "not"};
        const lease mine = taken(lock, lease_time{1h});
        server.evict(urgent ? "urgent" : "not");
        reconnected(urgent);
        run_for(6min);
        EXPECT_TRUE(mine.lost().stop_requested()) << urgent;
        EXPECT_EQ(alice.all(verb::renew).back().lease_time, 0ms);
    }
}

TEST_F(Revalidation, OfWhatIsAskedRightNowIsAskedAgainAfterTheAnswer) {
    for (const bool urgent : {true, false}) {
        alice.log.clear();
        const lease mine = taken(stock);
        alice.always.answer_delay = 500ms;
        run_for(10s + 100ms); // a renewal was carried out by the old server
        server.evict("stock");
        reconnected(urgent);
        run_for(400ms);
        EXPECT_EQ(alice.count(verb::renew), 2u);
        run_for(500ms);
        EXPECT_TRUE(mine.lost().stop_requested()) << urgent;
        alice.always = {};
        run_for(2s);
    }
}

TEST_F(Revalidation, OfWhatIsAskedRightNowAndNotAnsweredIsAskedAgainWithoutAPause) {
    const lease mine = taken(stock);
    alice.always.cut_off = 500ms;
    alice.always.request_lost = true;
    run_for(10s + 100ms);
    reconnected(true);
    alice.always = {};
    server.restart_empty();
    run_for(400ms);
    EXPECT_TRUE(mine.lost().stop_requested());
}

TEST_F(Revalidation, DoubtingForEverDoesNotSpin) {
    const lease mine = taken(stock);
    alice.always.answer_delay = 100ms;
    for (int i = 0; i < 100; ++i) {
        reconnected(true);
        run_for(10ms);
    }
    EXPECT_LE(alice.count(verb::renew), 11u);
    EXPECT_TRUE(mine.owns_lock());
}

// A release that was sent and is not acknowledged yet: the next request of its client may overtake
// it on another connection, and is then told that its own client's last hold is in the way.

class Overtaken : public on_stage {
protected:
    actor& alice = enter({}, 1s);
    mutex stock{alice, "stock", deferred_release};
    lease held = taken(stock);
    said<> released;

    /// As a thread does that waits for no release, and has sent it itself.
    void send_off(fate met) {
        const std::shared_ptr<engine> home = alice.inside.lock();
        const std::shared_ptr<held_lock> leaving = home->queues().held_under("stock").at(0);
        alice.planned.emplace_back(verb::release, met);
        held.async_unlock(released.handler());
        settle();
        home->release_sent_off(*leaving);
    }
    said<std::optional<lease>> tried() {
        said<std::optional<lease>> outcome;
        stock.async_try_lock(outcome.handler());
        settle();
        return outcome;
    }
};

TEST_F(Overtaken, ATryThatFindsItsOwnLastHoldIsRepeatedBehindTheRelease) {
    send_off({.request_delay = 20ms});
    const auto next = tried();
    EXPECT_FALSE(next.done()) << "what was busy may be its own hold";
    run_for(20ms);
    ASSERT_TRUE(next.well());
    ASSERT_TRUE(next.value());
    EXPECT_EQ(inspect(server, "stock")->owners.at(0), next.value()->owner());
    EXPECT_EQ(alice.count(verb::look), 3u) << "one took it, one came too early, one behind";
    EXPECT_TRUE(released.well());
}

TEST_F(Overtaken, ATryThatFindsARivalBehindTheReleaseIsBusy) {
    send_off({.answer_delay = 20ms});
    server.occupy("stock", 1h);
    const auto next = tried();
    run_for(20ms);
    ASSERT_TRUE(next.well());
    EXPECT_FALSE(next.value());
    EXPECT_EQ(alice.count(verb::look), 3u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Overtaken, ATryBehindAnAcknowledgedReleaseIsAnsweredAtOnce) {
    send_off({});
    server.occupy("stock", 1h);
    const auto next = tried();
    ASSERT_TRUE(next.well());
    EXPECT_FALSE(next.value());
    EXPECT_EQ(alice.count(verb::look), 2u);
}

TEST_F(Overtaken, ATryIsToldOnceNobodyKnowsWhatBecameOfTheRelease) {
    send_off({.request_lost = true});
    const auto next = tried();
    run_for(1s - 1ms);
    EXPECT_FALSE(next.done());
    run_for(1ms);
    ASSERT_TRUE(next.well());
    EXPECT_FALSE(next.value()) << "it is held until the release is repeated";
    run_for(2s);
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Overtaken, ATryThatComesBesideTheReleaseOfItsOwnThreadIsAdmittedBehindIt) {
    const std::shared_ptr<engine> home = alice.inside.lock();
    const std::shared_ptr<held_lock> leaving = home->queues().held_under("stock").at(0);
    leaving->announce_release();
    said<std::optional<lease>> next;
    stock.async_try_lock(next.handler());
    asio::post(io, [this, leaving] {
        leaving->release_unwaited(io.get_executor(), [] { return false; });
    });
    settle();
    ASSERT_TRUE(next.well());
    EXPECT_TRUE(next.value());
}

TEST_F(Overtaken, WhoWaitsForTheReleaseMayBeCancelledAndTheClientClosed) {
    send_off({.request_delay = 20ms});
    const auto next = tried();
    const said<> closed = close(alice);
    settle();
    EXPECT_TRUE(next.failed(errc::closed));
    run_for(5s);
    EXPECT_TRUE(closed.done());
}

// Acquisitions when the store does not reply, replies late, or refuses the request.

class Outage : public on_stage {
protected:
    actor& alice = enter({.unavailable_timeout = 10s}, 1s);
    mutex stock{alice, "stock"};
    said<lease> held;
    said<std::optional<lease>> tried;

    void cut() { alice.always = fate{.refused = true}; }
    void mend() { alice.always = fate{}; }

    /// Begins a query in the way of a blocking call. Stores in `seen` whether it got a reply.
    void begin_query(client& home, std::optional<bool>& seen) {
        const std::shared_ptr<engine> inside = home.engine();
        auto query = [inside] { return inside->operators_view().describe({"stock"}); };
        asio::co_spawn(io, outlast_failover(inside, std::move(query)),
                       [&seen](const std::exception_ptr& thrown, const auto&) { seen = !thrown; });
    }
};

TEST_F(Outage, AShorterOneIsSurvived) {
    cut();
    stock.async_lock(held.handler());
    run_for(9s);
    EXPECT_FALSE(held.done());
    mend();
    run_for(1s);
    EXPECT_TRUE(held.well());
}

TEST_F(Outage, ALongerOneFailsUnreachable) {
    cut();
    stock.async_lock(held.handler());
    run_for(10s - 1ms);
    EXPECT_FALSE(held.done());
    run_for(1s + 1ms);
    EXPECT_TRUE(held.failed(errc::unreachable));
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Outage, WithoutATimeoutOfTheClientsItIsTheUsualOneOfTheStore) {
    options how;
    how.store = [this](store_context context) {
        const auto cut_off = [](const memory::request&) { return fate{.refused = true}; };
        return std::make_unique<support::wrapped_store<locks_with_failover>>(
            server.connect(cut_off)(std::move(context)));
    };
    client home{io.get_executor(), clock, std::move(how)};
    mutex far{home, "stock"};
    far.async_lock(held.handler());
    run_for(30s - 1ms);
    EXPECT_FALSE(held.done());
    run_for(1s + 1ms);
    EXPECT_TRUE(held.failed(errc::unreachable));
}

TEST_F(Outage, QueryOutlastsItIfAnotherServerTakesOver) {
    bool is_away = true;
    options how;
    how.store = [this, &is_away](store_context context) {
        const auto cut_off = [&is_away](const memory::request&) {
            return fate{.refused = is_away};
        };
        return std::make_unique<support::wrapped_store<locks_with_failover>>(
            server.connect(cut_off)(std::move(context)));
    };
    client home{io.get_executor(), clock, std::move(how)};
    std::optional<bool> seen;
    begin_query(home, seen);
    run_for(25s);
    EXPECT_FALSE(seen);
    is_away = false;
    run_for(2s);
    EXPECT_EQ(seen, true);

    is_away = true;
    seen.reset();
    begin_query(home, seen);
    run_for(30s - 1ms);
    EXPECT_FALSE(seen);
    run_for(1s + 1ms);
    EXPECT_EQ(seen, false);
}

TEST_F(Outage, QueryOfTheOnlyServerReportsItAtOnce) {
    cut();
    std::optional<bool> seen;
    begin_query(alice, seen);
    settle();
    EXPECT_EQ(seen, false);
}

TEST_F(Outage, EachOutageHasTheWholeTimeout) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    for (int i = 0; i < 5; ++i) {
        cut();
        run_for(9s);
        EXPECT_FALSE(held.done());
        mend();
        run_for(10s); // longer than a poll: it is answered
    }
    server.vacate("stock");
    settle();
    EXPECT_TRUE(held.well());
}

TEST_F(Outage, ItIsTriedAgainSoonAtFirstAndThenOnceASecond) {
    cut();
    stock.async_lock(held.handler());
    run_for(100ms);
    EXPECT_GE(alice.count(verb::look), 3u);
    run_for(2s);
    const std::size_t before = alice.count(verb::look);
    run_for(5s);
    EXPECT_NEAR(double(alice.count(verb::look) - before), 5, 1);
}

TEST_F(Outage, WhoHasNoTimeoutIsToldAtOnce) {
    cut();
    stock.async_try_lock(tried.handler());
    settle();
    EXPECT_TRUE(tried.failed(errc::unreachable)) << "nobody knows whether it is busy";
    EXPECT_EQ(alice.count(verb::look), 1u);
}

TEST_F(Outage, ATimedTryFailsWhenItsTimeoutEnds) {
    cut();
    stock.async_try_lock_for(700ms, tried.handler());
    run_for(699ms);
    EXPECT_FALSE(tried.done());
    run_for(1ms);
    EXPECT_TRUE(tried.failed(errc::unreachable));
}

TEST_F(Outage, ATryBehindACallWithoutAReplyIsNotBusy) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    run_for(1s);
    cut();
    run_for(9s); // the call polls, and gets no reply
    said<std::optional<lease>> timed;
    stock.async_try_lock_for(500ms, timed.handler());
    stock.async_try_lock(tried.handler());
    settle();
    EXPECT_TRUE(tried.failed(errc::unreachable)) << "nobody knows whether it is busy";
    run_for(500ms);
    EXPECT_TRUE(timed.failed(errc::unreachable));

    mend();
    run_for(2s);
    EXPECT_FALSE(held.done());
    said<std::optional<lease>> busy;
    stock.async_try_lock(busy.handler());
    settle();
    ASSERT_TRUE(busy.well()) << "the store has replied again";
    EXPECT_FALSE(busy.value());
    server.vacate("stock");
    run_for(1s);
    EXPECT_TRUE(held.well());
}

TEST_F(Outage, AWaitBehindARequestWithoutAReplyIsNotBusy) {
    alice.always = fate{.answer_lost = true};
    stock.async_lock(held.handler());
    run_for(50ms);
    said<std::optional<lease>> brief;
    stock.async_try_lock(brief.handler());
    stock.async_try_lock_for(700ms, tried.handler());
    run_for(699ms);
    ASSERT_TRUE(brief.well()) << "a call of this client takes the lock just now";
    EXPECT_FALSE(tried.done());
    run_for(1ms);
    EXPECT_TRUE(tried.failed(errc::unreachable)) << "no reply has come for 750 ms";
}

TEST_F(Outage, AWaitBehindSeveralRequestsWithoutAReplyIsNotBusy) {
    alice.always = fate{.answer_lost = true};
    said<std::optional<lease>> first;
    stock.async_try_lock_for(900ms, first.handler()); // fails after the time limit of its request
    stock.async_lock(held.handler());                 // is admitted then
    stock.async_try_lock_for(1500ms, tried.handler());
    run_for(1499ms);
    EXPECT_TRUE(first.done());
    EXPECT_FALSE(tried.done());
    run_for(1ms);
    EXPECT_TRUE(tried.failed(errc::unreachable)) << "no reply has come for 1.5 s";
}

TEST_F(Outage, AWaitForPermitsBehindAFailingCallIsNotBusy) {
    leased_semaphore rooms{alice, "rooms"};
    rooms.async_set_permits(1, said{}.handler());
    said<lease> asks;
    alice.always.request_delay = 5ms; // so both calls ask before the first reply
    rooms.async_acquire(2, asks.handler());
    rooms.async_try_acquire_for(9s, 2, tried.handler());
    run_for(500ms);
    cut();
    run_for(8500ms); // the first call polls
    EXPECT_TRUE(tried.failed(errc::unreachable)) << "its requests failed";
}

TEST_F(Outage, AWaitBehindAReplyIsBusy) {
    server.occupy("stock", 1h);
    stock.async_lock(held.handler());
    run_for(1s);
    stock.async_try_lock_for(700ms, tried.handler());
    run_for(700ms);
    ASSERT_TRUE(tried.well());
    EXPECT_FALSE(tried.value());
}

TEST_F(Outage, ATryBesideAHoldOfItsClientIsBusy) {
    const lease mine = taken(stock);
    cut();
    stock.async_try_lock_for(500ms, tried.handler());
    run_for(500ms);
    ASSERT_TRUE(tried.well()) << "this client knows who holds it";
    EXPECT_FALSE(tried.value());
}

/// Locks and counters of each kind that somebody else has.
class OutageOfEachKind : public Outage {
protected:
    struct attempt_at {
        std::string kind;
        std::function<bool()> is_unreachable;
    };

    OutageOfEachKind() {
        server.occupy("fair", 1h, lock_kind::fair);
        server.occupy("spin", 1h);
        server.occupy("token", 1h, lock_kind::token);
        server.occupy("written", 1h, lock_kind::write);
        server.occupy("read", 1h, lock_kind::write);
        seats.async_try_set_permits(0, said<bool>{}.handler());
        leased.async_try_set_permits(1, said<bool>{}.handler());
        starts.async_try_set_rate({.permits = 1, .per = 1h}, said<bool>{}.handler());
        settle();
        his_leased.async_acquire(1, his.handler());
        starts.async_acquire(1, said<>{}.handler());
        settle();
    }

    std::vector<attempt_at> try_all(duration timeout) {
        std::vector<attempt_at> all;
        for (const auto& [kind, lock] : {std::pair<const char*, basic_mutex*>{"fair", &fair},
                                         {"spin", &spin},
                                         {"token", &token},
                                         {"writer", &written},
                                         {"reader", &read.shared()}}) {
            said<std::optional<lease>> told;
            lock->async_try_lock_for(timeout, told.handler());
            all.push_back({kind, [told] { return told.failed(errc::unreachable); }});
        }
        said<bool> seat, start;
        said<std::optional<lease>> permit;
        seats.async_try_acquire_for(timeout, 1, seat.handler());
        starts.async_try_acquire_for(timeout, 1, start.handler());
        leased.async_try_acquire_for(timeout, 1, permit.handler());
        all.push_back({"semaphore", [seat] { return seat.failed(errc::unreachable); }});
        all.push_back({"rate limiter", [start] { return start.failed(errc::unreachable); }});
        all.push_back({"permit", [permit] { return permit.failed(errc::unreachable); }});
        return all;
    }
    static void expect_unreachable(const std::vector<attempt_at>& all) {
        for (const attempt_at& each : all)
            EXPECT_TRUE(each.is_unreachable()) << each.kind;
    }

    actor& bob = enter();
    fair_mutex fair{alice, "fair"};
    spin_mutex spin{alice, "spin"};
    token_mutex token{alice, "token"};
    shared_mutex written{alice, "written"}, read{alice, "read"};
    counting_semaphore seats{alice, "seats"};
    rate_limiter starts{alice, "starts"};
    leased_semaphore leased{alice, "leased"}, his_leased{bob, "leased"};
    said<lease> his;
};

TEST_F(OutageOfEachKind, ATryWithoutATimeoutIsNotBusy) {
    cut();
    const std::vector<attempt_at> all = try_all(0ms);
    settle();
    expect_unreachable(all);
}

TEST_F(OutageOfEachKind, ATimedTryIsNotBusy) {
    cut();
    const std::vector<attempt_at> all = try_all(2s);
    run_for(3s);
    expect_unreachable(all);
}

TEST_F(OutageOfEachKind, ATimedTryIsNotBusyIfItsLastLookGetsNoReply) {
    const std::vector<attempt_at> all = try_all(8s);
    run_for(1s); // all of them are busy
    cut();
    run_for(8s);
    expect_unreachable(all);
}

TEST_F(Outage, AStalledServerDelaysATimedTryByOneTimeLimitAtMost) {
    alice.always = fate{.request_lost = true};
    stock.async_try_lock_for(100ms, tried.handler());
    run_for(100ms + 1s);
    EXPECT_TRUE(tried.failed(errc::outcome_unknown));
}

TEST_F(Outage, ALostAnswerIsFoundByAskingAgain) {
    alice.planned.emplace_back(verb::look, fate{.answer_lost = true});
    stock.async_lock(held.handler());
    run_for(1s - 1ms);
    EXPECT_FALSE(held.done());
    EXPECT_EQ(held_count(server), 1u);
    run_for(100ms);
    ASSERT_TRUE(held.well());
    EXPECT_EQ(alice.count(verb::look), 2u);
    EXPECT_EQ(inspect(server, "stock")->owners.at(0), held.value().owner());

    held.take().async_unlock(said{}.handler()); // one release is enough
    settle();
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Outage, AFailureThatAskingAgainCannotCureIsPassedOnAtOnce) {
    for (const store_errc why : {store_errc::wrong_type, store_errc::no_permission,
                                 store_errc::out_of_memory, store_errc::not_authenticated}) {
        alice.meddling.objects = [why](verb) { return make_error_code(why); };
        said<lease> refused;
        stock.async_lock(refused.handler());
        settle();
        EXPECT_TRUE(refused.failed(why));
        EXPECT_TRUE(refused.failed(errc::refused));
    }
    EXPECT_TRUE(is_idle(alice));
    EXPECT_THAT(alice.ear->last(event_kind::waited)->text,
                testing::HasSubstr("the server's own words"));
}

TEST_F(Outage, AnUnstableClockIsNotAskedAgain) {
    alice.meddling.objects = [](verb) { return make_error_code(errc::clock_unstable); };
    stock.async_lock(held.handler());
    settle();
    EXPECT_TRUE(held.failed(errc::clock_unstable));
}

TEST_F(Outage, AServerThatLoadsItsDataIsWaitedFor) {
    alice.meddling.objects = [](verb) { return make_error_code(store_errc::loading); };
    stock.async_lock(held.handler());
    run_for(5s);
    EXPECT_FALSE(held.done());
    alice.meddling.objects = nullptr;
    run_for(1s);
    EXPECT_TRUE(held.well());
}

TEST_F(Outage, TheNextWaiterHasATimeoutOfItsOwn) {
    cut();
    said<lease> next;
    stock.async_lock(held.handler());
    stock.async_lock(next.handler());
    run_for(11s);
    EXPECT_TRUE(held.failed(errc::unreachable));
    EXPECT_FALSE(next.done());
    mend();
    run_for(1s);
    EXPECT_TRUE(next.well());
}

TEST_F(Outage, AGrantThatArrivesAfterItsLeaseIsNeverBelieved) {
    alice.always = fate{.answer_delay = 150ms};
    stock.async_lock(lease_time{100ms}, held.handler());
    run_for(1h);
    EXPECT_TRUE(held.failed(errc::unreachable));
    EXPECT_EQ(alice.count(verb::look), 3u);
    EXPECT_EQ(held_count(server), 0u);
    EXPECT_TRUE(is_idle(alice));
}

TEST_F(Outage, AGrantThatArrivesLateOnceIsAskedForAnew) {
    alice.planned.emplace_back(verb::look, fate{.answer_delay = 150ms});
    stock.async_lock(lease_time{100ms}, held.handler());
    run_for(150ms);
    ASSERT_TRUE(held.well());
    EXPECT_EQ(held.value().remaining(), 100ms - 3ms);
}

TEST_F(Outage, ALeaseCountsFromTheRequestAndNotFromItsAnswer) {
    alice.always = fate{.request_delay = 200ms, .answer_delay = 300ms};
    stock.async_lock(lease_time{10s}, held.handler());
    run_for(500ms);
    ASSERT_TRUE(held.well());
    EXPECT_EQ(held.value().remaining(), 10s - 102ms - 500ms);
    EXPECT_LT(held.value().remaining(), inspect(server, "stock")->remaining.value());
}

} // namespace
} // namespace holdfast::sync
