// SPDX-License-Identifier: Apache-2.0
// A thread that holds a lock with a fixed lease takes it again: from then on, the lease is renewed.
#include "sync/held_lock.hpp"
#include "sync/thread_table.hpp"
#include "unit/sync/stage.hpp"

#include <functional>
#include <limits>
#include <thread>

#include <gmock/gmock.h>

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

TEST(OwnerId, IsSpelledAsRedissonSpellsIt) {
    owner_id owner;
    for (std::size_t i = 0; i < owner.client.size(); ++i)
        owner.client[i] = static_cast<std::uint8_t>(0x10 * i + i);
    owner.number = 42;
    EXPECT_EQ(to_string(owner), "00112233-4455-6677-8899-aabbccddeeff:42");
}

TEST(OwnerId, HasRoomForTheLargestNumber) {
    const owner_id owner{{}, std::numeric_limits<std::uint64_t>::max()};
    EXPECT_EQ(to_string(owner), "00000000-0000-0000-0000-000000000000:18446744073709551615");
}

class Identity : public on_stage {};

TEST_F(Identity, SaysThatItIsHoldfastsAndNoJvms) {
    EXPECT_THAT(enter().program->id(),
                testing::ContainsRegex("^[0-9a-f]{8}-[0-9a-f]{4}-8fd5-[89ab][0-9a-f]{3}-"
                                       "[0-9a-f]{12}$"));
}

TEST_F(Identity, OfTwoClientsDiffers) {
    const std::string hers = enter().program->id(), his = enter().program->id();
    EXPECT_NE(hers, his);
}

TEST_F(Identity, IsTheFirstHalfOfEveryOwner) {
    actor& alice = enter();
    mutex stock{alice, "stock"};
    const lease held = taken(stock);
    EXPECT_EQ(held.owner(), alice.program->id() + ":1");
}

class ThreadTable : public on_stage {
protected:
    std::vector<std::shared_ptr<lock_handle>> abandoned;
    const std::shared_ptr<thread_table> table = std::make_shared<thread_table>(
        [this](std::shared_ptr<lock_handle> held) { abandoned.push_back(std::move(held)); });

    std::shared_ptr<lock_handle> a_hold(const std::string& name) {
        auto lock = std::make_shared<lock_descriptor>(owner_.program->engine(), name, 30s,
                                                      detail::lock_setup{});
        const grant got{owner_id{}, clock.now(), 30s, 0, 0, time_point::min()};
        return std::make_shared<held_lock>(request_for(std::move(lock), 0s, std::nullopt), got);
    }
    void TearDown() override {
        while (table->leave("stock", side::alone).count > 0)
            ;
        abandoned.clear();
    }

private:
    actor& owner_ = enter();
};

/// Runs it on a thread of its own, to its end.
template <typename Work>
void elsewhere(Work work) {
    std::thread{std::move(work)}.join();
}

TEST_F(ThreadTable, CountsEntries) {
    EXPECT_EQ(table->find("stock", side::alone).count, 0u);
    table->add(a_hold("stock"), side::alone);
    EXPECT_EQ(table->find("stock", side::alone).count, 1u);
    table->enter_again("stock", side::alone);
    EXPECT_EQ(table->find("stock", side::alone).count, 2u);
    EXPECT_EQ(table->leave("stock", side::alone).count, 2u);
    EXPECT_EQ(table->leave("stock", side::alone).count, 1u);
    EXPECT_EQ(table->leave("stock", side::alone).count, 0u);
    EXPECT_EQ(table->find("stock", side::alone).hold, nullptr);
}

TEST_F(ThreadTable, NamesAreApart) {
    table->add(a_hold("stock"), side::alone);
    EXPECT_EQ(table->find("stoc", side::alone).count, 0u);
    EXPECT_EQ(table->leave("stock2", side::alone).count, 0u);
}

TEST_F(ThreadTable, SidesOfOneNameAreApart) {
    const auto alone = a_hold("stock"), shared = a_hold("stock");
    table->add(shared, side::shared);
    EXPECT_EQ(table->find("stock", side::alone).count, 0u);
    table->add(alone, side::alone);
    EXPECT_EQ(table->find("stock", side::alone).hold, alone);
    EXPECT_EQ(table->leave("stock", side::alone).count, 1u);
    EXPECT_EQ(table->leave("stock", side::shared).hold, shared);
    EXPECT_EQ(table->leave("stock", side::shared).count, 0u);
}

TEST_F(ThreadTable, ThreadsAreApart) {
    table->add(a_hold("stock"), side::alone);
    elsewhere([this] {
        EXPECT_EQ(table->find("stock", side::alone).count, 0u);
        EXPECT_EQ(table->leave("stock", side::alone).count, 0u);
        table->add(a_hold("stock"), side::alone);
        EXPECT_EQ(table->leave("stock", side::alone).count, 1u);
    });
    EXPECT_EQ(table->find("stock", side::alone).count, 1u);
    EXPECT_TRUE(abandoned.empty());
}

TEST_F(ThreadTable, NumbersOfThreadsAreNeverUsedAgain) {
    std::vector<std::uint64_t> numbers{this_thread_number()};
    EXPECT_EQ(this_thread_number(), numbers.front());
    for (int i = 0; i < 20; ++i) // the system gives most of them the same id
        elsewhere([&] { numbers.push_back(this_thread_number()); });
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
    EXPECT_EQ(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

TEST_F(ThreadTable, WhatAThreadHoldsWhenItEndsIsAbandoned) {
    const auto held = a_hold("stock"), kept = a_hold("shelf");
    elsewhere([&] {
        table->add(held, side::alone);
        table->enter_again("stock", side::alone);
        table->add(a_hold("desk"), side::alone);
        table->leave("desk", side::alone);
    });
    ASSERT_EQ(abandoned.size(), 1u) << "once, however often it was entered";
    EXPECT_EQ(abandoned.front(), held);
    elsewhere([this] { EXPECT_EQ(table->find("stock", side::alone).count, 0u); });
}

TEST_F(ThreadTable, WhatIsAbandonedIsNotKept) {
    std::weak_ptr<lock_handle> watched;
    elsewhere([&] {
        const auto held = a_hold("stock");
        watched = held;
        table->add(held, side::alone);
    });
    EXPECT_FALSE(watched.expired());
    abandoned.clear();
    EXPECT_TRUE(watched.expired());
}

/// Acts when its thread ends.
struct last_words {
    std::function<void()> act;
    ~last_words() {
        if (act)
            act();
    }
};
thread_local last_words this_threads;

TEST_F(ThreadTable, AThreadThatAsksAfterItsEndHasBackWhatItHeld) {
    const auto held = a_hold("stock"), kept = a_hold("shelf"), gone = a_hold("desk");
    std::size_t asked = 0;
    elsewhere([&] {
        this_threads.act = [&] { // made first, destroyed last
            asked = abandoned.size();
            EXPECT_EQ(table->find("stock", side::alone).hold, held);
            table->enter_again("stock", side::alone);
            EXPECT_EQ(table->leave("stock", side::alone).count, 3u);
            EXPECT_EQ(table->leave("shelf", side::alone).hold, kept);
            EXPECT_EQ(table->leave("shelf", side::alone).count, 0u);
            table->add(gone, side::alone);
            EXPECT_EQ(table->leave("desk", side::alone).hold, gone);
        };
        table->add(held, side::alone);
        table->enter_again("stock", side::alone);
        table->add(kept, side::alone);
    });
    EXPECT_EQ(asked, 2u);
    EXPECT_EQ(table->find("stock", side::alone).count, 0u) << "it is another thread's";
    table->let_go();
}

TEST_F(ThreadTable, AThreadThatAsksAfterItsEndDoesNotFindWhatIsOver) {
    elsewhere([&] {
        this_threads.act = [&] {
            abandoned.clear();
            EXPECT_EQ(table->find("stock", side::alone).count, 0u);
        };
        table->add(a_hold("stock"), side::alone);
    });
}

TEST_F(ThreadTable, WhoEntersAgainWhatWasLetGoHasNothing) {
    table->add(a_hold("stock"), side::alone);
    table->let_go();
    table->enter_again("stock", side::alone);
    EXPECT_EQ(table->leave("stock", side::alone).count, 0u);
}

TEST_F(ThreadTable, MayEndBeforeItsThreads) {
    bool told = false;
    elsewhere([&] {
        auto brief = std::make_shared<thread_table>([&](const auto&) { told = true; });
        brief->add(a_hold("stock"), side::alone);
        brief.reset();
    });
    EXPECT_FALSE(told);
}

TEST_F(ThreadTable, AThreadMayUseMany) {
    const auto second = std::make_shared<thread_table>(
        [this](std::shared_ptr<lock_handle> held) { abandoned.push_back(std::move(held)); });
    elsewhere([&] {
        table->add(a_hold("stock"), side::alone);
        second->add(a_hold("stock"), side::alone);
        second->add(a_hold("shelf"), side::alone);
    });
    EXPECT_EQ(abandoned.size(), 3u);
}

} // namespace
} // namespace holdfast::sync
