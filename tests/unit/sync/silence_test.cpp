// SPDX-License-Identifier: Apache-2.0
// A renewal that nobody answers: a connection that died without a word.
#include "unit/sync/stage.hpp"

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

TEST_F(Silence, IsGivenUpAfterAPartOfWhatIsLeftAndAskedAgainElsewhere) {
    mutex lock{alice, "stock", lease_time{5s}};
    const lease held = taken(lock);
    swallow_next_renewal();
    run_for(5s);
    ASSERT_GE(alice.meddling.wishes.size(), 3u);
    const std::vector<duration> moments = asked_at(verb::renew);
    const duration limit = alice.meddling.wishes[0].answer_by - start() - moments[0];
    EXPECT_GE(limit, 5s / 10);
    EXPECT_LE(limit, 5s / 4);
    EXPECT_FALSE(alice.meddling.wishes[0].elsewhere);
    EXPECT_TRUE(alice.meddling.wishes[1].elsewhere);
    EXPECT_FALSE(alice.meddling.wishes[2].elsewhere) << "the second one was answered";
    EXPECT_EQ(moments[1], moments[0] + limit + 500ms) << "the pause after a failure";
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
    EXPECT_EQ(server.held_count(), 1u) << "the store still has it";
    alice.always = {};
    run_for(1s);
    EXPECT_EQ(server.held_count(), 0u);
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

// What came of one name is nothing to the others of its request.

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

} // namespace
} // namespace holdfast::sync
