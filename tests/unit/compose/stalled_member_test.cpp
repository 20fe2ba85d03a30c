// SPDX-License-Identifier: Apache-2.0
// A server that grants its part and then stands still, and nodes that do not answer: the caller
// does not wait for them.
#include "unit/sync/stage.hpp"

#include <holdfast/leased_semaphore.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/quorum_mutex.hpp>

namespace holdfast::sync {
namespace {

class StalledMember : public on_stage {
protected:
    memory::server second{clock}, third{clock};
    actor& one = enter_at(server);
    actor& two = enter_at(second);
    actor& three = enter_at(third);
    quorum_mutex quorum{{*one.program, *two.program, *three.program}, "stock"};
    mutex first{one, "first"}, other{two, "stock"};
    multi_mutex multi{first, other};

    StalledMember() {
        second.occupy("stock", 1h);
        third.occupy("stock", 1h);
        one.planned.emplace_back(verb::release, fate{.request_lost = true});
    }

    duration tried(basic_mutex& lock, duration timeout) {
        const time_point began = clock.now();
        said<std::optional<lease>> outcome;
        lock.async_try_lock_for(timeout, outcome.handler());
        while (!outcome.done())
            run_for(1ms);
        EXPECT_TRUE(outcome.well());
        EXPECT_FALSE(outcome.value());
        return clock.now() - began;
    }
};

TEST_F(StalledMember, QuorumKeepsItsPatience) {
    EXPECT_LE(tried(quorum, 200ms), 310ms);
}

TEST_F(StalledMember, QuorumWithoutPatienceIsBusySoon) {
    EXPECT_LE(tried(quorum, 0ms), 110ms);
}

TEST_F(StalledMember, MultiKeepsItsPatience) {
    EXPECT_LE(tried(multi, 200ms), 310ms);
}

TEST_F(StalledMember, MultiWithoutPatienceIsBusySoon) {
    EXPECT_LE(tried(multi, 0ms), 110ms);
}

TEST_F(StalledMember, QuestionsToAQuorumDoNotWaitForOneNode) {
    three.always.request_lost = true;
    (void)second.vacate("stock");
    said<bool> locked, forced;
    quorum.async_is_locked(locked.handler());
    run_for(150ms);
    ASSERT_TRUE(locked.well());
    EXPECT_FALSE(locked.value()) << "one node of three at most has it";
    server.occupy("stock", 1h);
    second.occupy("stock", 1h);
    said<bool> again;
    quorum.async_is_locked(again.handler());
    run_for(150ms);
    ASSERT_TRUE(again.well());
    EXPECT_TRUE(again.value());
    quorum.async_force_unlock(forced.handler());
    run_for(150ms);
    ASSERT_TRUE(forced.well());
    EXPECT_TRUE(forced.value());
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(StalledMember, QuestionsToAQuorumWaitWhereTheLastAnswerDecides) {
    three.always.answer_delay = 500ms;
    server.occupy("stock", 1h);
    (void)second.vacate("stock");
    said<bool> locked;
    quorum.async_is_locked(locked.handler());
    run_for(499ms);
    EXPECT_FALSE(locked.done());
    run_for(1ms);
    ASSERT_TRUE(locked.well());
    EXPECT_TRUE(locked.value());
}

/// A handler blocks the executor of all members: whoever asks is told by the clock.
TEST_F(StalledMember, TokensOfAJointHoldAskTheClock) {
    (void)second.vacate("stock");
    (void)third.vacate("stock");
    for (basic_mutex* const each :
         {static_cast<basic_mutex*>(&quorum), static_cast<basic_mutex*>(&multi)}) {
        const lease held = taken(*each, lease_time{3s});
        const std::stop_token before = held.lost();
        EXPECT_FALSE(before.stop_requested());
        EXPECT_FALSE(held.in_danger().stop_requested());
        clock.block_for(3s);
        EXPECT_FALSE(held.owns_lock());
        EXPECT_TRUE(held.lost().stop_requested());
        EXPECT_TRUE(held.in_danger().stop_requested());
        EXPECT_FALSE(before.stop_requested()) << "it is told by the executor";
        settle();
        EXPECT_TRUE(before.stop_requested());
        run_for(10s);
    }
}

TEST_F(StalledMember, TokensOfPermitsAskTheClock) {
    leased_semaphore slots{two, "slots"};
    said<bool> set;
    slots.async_try_set_permits(2, set.handler());
    settle();
    said<lease> got;
    slots.async_acquire(2, got.handler());
    settle();
    ASSERT_TRUE(got.well());
    clock.block_for(31s);
    EXPECT_TRUE(got.value().lost().stop_requested());
    EXPECT_TRUE(got.value().in_danger().stop_requested());
}

} // namespace
} // namespace holdfast::sync
