// SPDX-License-Identifier: Apache-2.0
// A thread that enters a lock of its own again, whose first lease was fixed: from then on it is
// renewed.
#include "unit/sync/stage.hpp"

namespace holdfast::sync {
namespace {

class BecomesRenewed : public on_stage {
protected:
    actor& alice = enter({.lease_time = 30s}, 10s);
    recursive_mutex stock{alice, "stock"};
    lease held = taken(stock, lease_time{9s}); // looked at after 3 s

    /// As this thread, which has it.
    void enter_again() {
        const std::shared_ptr<engine> home = alice.inside.lock();
        if (!home->threads()->find("stock", side::alone).hold)
            home->threads()->add(held.hold(), side::alone);
        stock.lock();
        settle();
    }
    std::size_t warnings() const { return alice.ear->count(event_kind::in_danger); }
};

TEST_F(BecomesRenewed, AtOnce) {
    run_for(1s);
    enter_again();
    ASSERT_EQ(alice.count(verb::renew), 1u);
    EXPECT_EQ(alice.all(verb::renew).front().lease_time, 30s);
    run_for(5min);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(BecomesRenewed, RightAfterTheAnswerOfACheckThatIsUnderWay) {
    alice.always.answer_delay = 500ms;
    run_for(3s + 200ms);
    enter_again();
    run_for(300ms);
    ASSERT_EQ(alice.count(verb::renew), 2u);
    EXPECT_EQ(alice.all(verb::renew).back().lease_time, 30s);
    run_for(5min);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(warnings(), 0u);
}

TEST_F(BecomesRenewed, AlthoughTheCheckUnderWayIsNeverAnswered) {
    alice.planned.emplace_back(verb::renew, fate{.request_lost = true});
    run_for(3s + 200ms);
    enter_again();
    run_for(5min);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_EQ(warnings(), 0u);
}

TEST_F(BecomesRenewed, IsNotWarnedBeforeItsFirstRenewalHadTimeToBeAnswered) {
    run_for(1s); // what is left is less than a third of the lease it has from now on
    alice.always.answer_delay = 500ms;
    enter_again();
    EXPECT_EQ(warnings(), 0u);
    run_for(500ms);
    EXPECT_EQ(warnings(), 0u);
    EXPECT_GE(held.remaining(), 29s);
}

TEST_F(BecomesRenewed, IsWarnedWhenItsFirstRenewalFailed) {
    run_for(1s);
    alice.always.refused = true;
    enter_again();
    EXPECT_EQ(warnings(), 1u);
    EXPECT_TRUE(held.in_danger().stop_requested());
    run_for(7s);
    EXPECT_EQ(warnings(), 1u);
}

TEST_F(BecomesRenewed, IsWarnedInTimeWhenItsFirstRenewalIsNotAnswered) {
    run_for(1s);
    alice.always.request_lost = true;
    enter_again();
    run_for(8s / 3);
    EXPECT_EQ(warnings(), 1u);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(BecomesRenewed, ShortBeforeTheEndAFailureLeavesTimeToTryAgain) {
    run_for(8s);
    alice.planned.emplace_back(verb::renew, fate{.refused = true});
    enter_again();
    run_for(1min);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(BecomesRenewed, WhileItIsExtendedForAShortTime) {
    alice.always.answer_delay = 500ms;
    said<> extended;
    held.async_extend(lease_time{10s}, extended.handler());
    run_for(400ms);
    alice.planned.emplace_back(verb::renew, fate{.refused = true});
    enter_again();
    run_for(5min);
    EXPECT_TRUE(extended.well());
    EXPECT_TRUE(held.owns_lock()) << "its next renewal was to come after its end";
}

} // namespace
} // namespace holdfast::sync
