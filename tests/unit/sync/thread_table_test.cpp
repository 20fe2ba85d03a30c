// SPDX-License-Identifier: Apache-2.0
#include "sync/thread_table.hpp"
#include "sync/wire_hold.hpp"
#include "unit/sync/stage.hpp"

#include <functional>
#include <thread>

namespace holdfast::sync {
namespace {

class ThreadTable : public on_stage {
protected:
    std::vector<std::shared_ptr<tenure>> abandoned;
    const std::shared_ptr<thread_table> table = std::make_shared<thread_table>(
        [this](std::shared_ptr<tenure> held) { abandoned.push_back(std::move(held)); });

    std::shared_ptr<tenure> a_hold(const std::string& name) {
        auto lock =
            std::make_shared<subject>(owner_.program->engine(), name, 30s, detail::lock_setup{});
        const grant got{owner_id{}, clock.now(), 30s, 0, 0, time_point::min()};
        return std::make_shared<wire_hold>(request_for(std::move(lock), 0s, std::nullopt), got);
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
    std::weak_ptr<tenure> watched;
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
        [this](std::shared_ptr<tenure> held) { abandoned.push_back(std::move(held)); });
    elsewhere([&] {
        table->add(a_hold("stock"), side::alone);
        second->add(a_hold("stock"), side::alone);
        second->add(a_hold("shelf"), side::alone);
    });
    EXPECT_EQ(abandoned.size(), 3u);
}

} // namespace
} // namespace holdfast::sync
