// SPDX-License-Identifier: Apache-2.0
// After a reconnection the store may have forgotten what it held: every hold is asked for.
#include "unit/sync/stage.hpp"

#include <memory>
#include <set>

namespace holdfast::sync {
namespace {

class Doubt : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s, .waiters_max = 20'000}, 1s);
    mutex stock{alice, "stock"};
    std::vector<lease> held;

    renewal& renewals() { return alice.inside.lock()->renewals(); }
    void reconnected(bool urgent) { renewals().doubt({}, urgent); }

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

TEST_F(Doubt, AnUrgentOneIsAskedAboutAtOnce) {
    const lease mine = taken(stock);
    run_for(1s);
    server.restart_empty();
    reconnected(true);
    settle();
    EXPECT_EQ(asked_at(), std::vector<duration>{1s});
    EXPECT_TRUE(mine.lost().stop_requested());
}

TEST_F(Doubt, TenThousandUrgentOnesTravelInCompanies) {
    take(10'000);
    run_for(1s);
    reconnected(true);
    settle();
    EXPECT_EQ(asked_for(), 10'000u);
    EXPECT_EQ(alice.count(verb::renew), 10'000u / renewal::company_max);
    for (const duration each : asked_at())
        EXPECT_EQ(each, 1s);
}

TEST_F(Doubt, OneThatIsNotUrgentComesByChanceWithinATenthOfTheLease) {
    for (const std::uint64_t chance : {0u, 1'700u, 2'999u}) {
        actor& bob = enter({.lease_time = 30s}, 1s);
        mutex his{bob, "of bob " + std::to_string(chance)};
        const lease mine = taken(his);
        const time_point before = clock.now();
        bob.dice = chance;
        bob.inside.lock()->renewals().doubt({}, false);
        run_for(3s);
        ASSERT_EQ(bob.count(verb::renew), 1u);
        EXPECT_EQ(bob.all(verb::renew).front().at - before, duration{chance});
    }
}

TEST_F(Doubt, TenThousandThatAreNotUrgentAreSpreadEvenlyOverATenthOfTheLease) {
    take(10'000);
    run_for(1s);
    reconnected(false);
    run_for(3s);
    EXPECT_EQ(asked_for(), 10'000u);
    std::size_t in_first_half = 0;
    for (const sent& each : alice.all(verb::renew)) {
        EXPECT_LE(each.holds.size(), renewal::company_max);
        in_first_half += each.at - start() < 1s + 1500ms ? each.holds.size() : 0;
    }
    EXPECT_GE(in_first_half, 4'000u);
    EXPECT_LE(in_first_half, 8'500u) << "those that are nearly due travel along";
}

TEST_F(Doubt, TheShortestLeaseSaysHowFarTheyAreSpread) {
    mutex brief{alice, "brief", lease_time{6s}};
    const lease of_six = taken(brief), of_thirty = taken(stock);
    alice.dice = 599;
    reconnected(false);
    run_for(600ms);
    EXPECT_EQ(asked_for(), 2u);
}

TEST_F(Doubt, ItIsAskedAboutOnlyWhatItNames) {
    mutex shelf{alice, "shelf"};
    const lease mine = taken(stock), other = taken(shelf);
    renewals().doubt([](const lock_name& name) { return name == lock_name{"shelf"}; }, true);
    settle();
    ASSERT_EQ(alice.count(verb::renew), 1u);
    EXPECT_EQ(alice.all(verb::renew).front().holds.front().name, lock_name{"shelf"});
}

TEST_F(Doubt, AFixedLeaseIsAskedForToo) {
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

TEST_F(Doubt, OfWhatIsAskedRightNowIsAskedAgainAfterTheAnswer) {
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

TEST_F(Doubt, OfWhatIsAskedRightNowAndNotAnsweredIsAskedAgainWithoutAPause) {
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

TEST_F(Doubt, DoubtingForEverDoesNotSpin) {
    const lease mine = taken(stock);
    alice.always.answer_delay = 100ms;
    for (int i = 0; i < 100; ++i) {
        reconnected(true);
        run_for(10ms);
    }
    EXPECT_LE(alice.count(verb::renew), 11u);
    EXPECT_TRUE(mine.owns_lock());
}

} // namespace
} // namespace holdfast::sync
