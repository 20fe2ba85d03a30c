// SPDX-License-Identifier: Apache-2.0
// Blocking verbs tie a hold to its thread: who may unlock, and what happens when it ends.
#include "unit/front/real_time.hpp"

#include <latch>
#include <thread>

namespace holdfast {
namespace {

class Threads : public in_real_time {
protected:
    mutex stock{alice, "stock"};
    error_code ec;
};

TEST_F(Threads, AnotherThreadCannotUnlock) {
    stock.lock();
    soon(elsewhere([this] {
        error_code of_other;
        stock.unlock(of_other);
        EXPECT_EQ(of_other, errc::not_owner);
    }));
    EXPECT_FALSE(is_free("stock"));
    EXPECT_TRUE(stock.is_held_by_this_thread());
    stock.unlock(ec);
    EXPECT_FALSE(ec);
}

TEST_F(Threads, UnlockingTwiceIsToldTheSecondTime) {
    stock.lock();
    stock.unlock(ec);
    EXPECT_FALSE(ec);
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::not_owner);
    EXPECT_THAT(ec.message(), HasSubstr("does not hold"));
}

TEST_F(Threads, UnlockingWhatWasNeverLockedIsTold) {
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::not_owner);
    EXPECT_EQ(sent.all(), 0u);
}

TEST_F(Threads, UnlockingAfterALossIsTold) {
    stock.lock();
    mutex of_bob{bob, "stock"};
    ASSERT_TRUE(of_bob.force_unlock());
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::lease_lost);
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::not_owner);
}

TEST_F(Threads, UnlockingAfterCloseIsTold) {
    stock.lock();
    alice.close();
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::closed);
    stock.unlock(ec);
    EXPECT_EQ(ec, errc::closed);
}

TEST_F(Threads, APlainUnlockOfALostHoldIsReportedToTheObserver) {
    stock.lock();
    mutex of_bob{bob, "stock"};
    ASSERT_TRUE(of_bob.force_unlock());
    stock.unlock();
    EXPECT_TRUE(eventually([&] { return ear->count(event_kind::lost) == 1; }));
    EXPECT_EQ(ear->count(event_kind::misuse), 0u);
}

using ThreadsDeathTest = Threads;

#ifndef NDEBUG
TEST_F(ThreadsDeathTest, UnlockingWhatIsNotHeldIsABug) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(stock.unlock(), "does not hold");
}
#else
TEST_F(ThreadsDeathTest, UnlockingWhatIsNotHeldIsReported) {
    stock.unlock();
    EXPECT_TRUE(eventually([&] { return ear->count(event_kind::misuse) == 1; }));
    EXPECT_EQ(ear->last(event_kind::misuse)->name, "stock");
    EXPECT_EQ(ear->last(event_kind::misuse)->code, errc::not_owner);
}
#endif

TEST_F(Threads, OneThatEndsWhileHoldingAbandonsTheHold) {
    mutex brief{alice, "brief", lease_time{200ms}};
    soon(elsewhere([&] { std::thread{[&] { brief.lock(); }}.join(); }));
    EXPECT_TRUE(eventually([&] { return ear->count(event_kind::abandoned) == 1; }));
    EXPECT_EQ(ear->last(event_kind::abandoned)->name, "brief");
    EXPECT_TRUE(eventually([&] { return is_free("brief"); })) << "it is still renewed";
    EXPECT_TRUE(eventually([&] { return ear->count(event_kind::lost) == 1; }));
    EXPECT_EQ(ear->last(event_kind::lost)->cause, event_cause::term_ended);
    EXPECT_TRUE(brief.try_lock_for(support::far_too_long));
    brief.unlock();
}

TEST_F(Threads, ANewThreadNeverInheritsAHold) {
    // The system gives a new thread the id of one that ended.
    std::thread{[&] { stock.lock(); }}.join();
    std::thread{[&] {
        EXPECT_FALSE(stock.is_held_by_this_thread());
        EXPECT_FALSE(stock.try_lock());
        error_code of_other;
        stock.unlock(of_other);
        EXPECT_EQ(of_other, errc::not_owner);
    }}.join();
    EXPECT_FALSE(is_free("stock"));
}

TEST_F(Threads, OneThatEndsAfterItsClientDoesNoHarm) {
    std::latch locked{1}, closed{1};
    auto temporary =
        std::make_unique<client>(options{.store = server.connect(), .close_patience = 0ms});
    auto holder = elsewhere([&] {
        mutex brief{*temporary, "brief"};
        brief.lock();
        locked.count_down();
        closed.wait();
    });
    locked.wait();
    temporary.reset();
    closed.count_down();
    soon(std::move(holder));
}

TEST_F(Threads, HoldsOfTwoClientsAreApart) {
    mutex of_bob{bob, "shelf"};
    stock.lock();
    of_bob.lock();
    mutex alices{alice, "shelf"};
    EXPECT_FALSE(alices.is_held_by_this_thread());
    EXPECT_FALSE(alices.try_lock());
    of_bob.unlock();
    stock.unlock();
    EXPECT_EQ(server.held_count(), 0u);
}

TEST_F(Threads, ALeaseBelongsToNobodyAndMayBeReleasedAnywhere) {
    lease held = soon(stock.async_lock(asio::use_future));
    EXPECT_FALSE(stock.is_held_by_this_thread());
    EXPECT_FALSE(stock.try_lock()) << "two owners";
    soon(elsewhere([&] {
        error_code of_other;
        held.unlock(of_other);
        EXPECT_FALSE(of_other);
    }));
    EXPECT_TRUE(is_free("stock"));
}

} // namespace
} // namespace holdfast
