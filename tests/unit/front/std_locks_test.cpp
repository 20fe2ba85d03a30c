// SPDX-License-Identifier: Apache-2.0
// The locks stand where std's do.
#include "unit/front/real_time.hpp"

#include <condition_variable>
#include <thread>

namespace holdfast {
namespace {

template <typename Lock>
class StdLocks : public in_real_time {
protected:
    Lock stock{alice, "stock"}, shelf{alice, "shelf"};
    Lock bobs{bob, "stock"}, bobs_shelf{bob, "shelf"};
};

using locks = testing::Types<mutex, recursive_mutex>;
TYPED_TEST_SUITE(StdLocks, locks);

TYPED_TEST(StdLocks, LockGuard) {
    {
        const std::lock_guard held{this->stock};
        EXPECT_TRUE(this->stock.is_held_by_this_thread());
        EXPECT_FALSE(this->bobs.try_lock());
    }
    EXPECT_TRUE(this->is_free("stock"));
}

TYPED_TEST(StdLocks, ScopedLockOfTwo) {
    {
        const std::scoped_lock held{this->stock, this->shelf};
        EXPECT_FALSE(this->is_free("stock"));
        EXPECT_FALSE(this->is_free("shelf"));
    }
    EXPECT_EQ(this->server.held_count(), 0u);
}

TYPED_TEST(StdLocks, UniqueLockTriesAndDefers) {
    std::unique_lock mine{this->stock, std::defer_lock};
    EXPECT_FALSE(mine.owns_lock());
    mine.lock();
    EXPECT_TRUE(mine.owns_lock());
    const std::unique_lock his{this->bobs, std::try_to_lock};
    EXPECT_FALSE(his.owns_lock());
    mine.unlock();
    EXPECT_TRUE(mine.try_lock());
}

TYPED_TEST(StdLocks, UniqueLockWaitsForATimeAndUntilAMoment) {
    const std::unique_lock mine{this->stock, 10s};
    EXPECT_TRUE(mine.owns_lock());
    const std::unique_lock his{this->bobs, 5ms};
    EXPECT_FALSE(his.owns_lock());
    const std::unique_lock until{this->bobs, std::chrono::steady_clock::now() + 5ms};
    EXPECT_FALSE(until.owns_lock());
    const std::unique_lock by_date{this->bobs, std::chrono::system_clock::now() + 5ms};
    EXPECT_FALSE(by_date.owns_lock());
    std::unique_lock past{this->bobs, std::defer_lock};
    EXPECT_FALSE(past.try_lock_for(-1h));
    EXPECT_FALSE(past.try_lock_until(std::chrono::steady_clock::now() - 1h));
}

TYPED_TEST(StdLocks, UniqueLockMovesWithinItsThread) {
    std::unique_lock first{this->stock};
    std::unique_lock second = std::move(first);
    EXPECT_FALSE(first.owns_lock());
    second.unlock();
    EXPECT_TRUE(this->is_free("stock"));
}

TYPED_TEST(StdLocks, LockOfTwoInEitherOrderNeverDeadlocks) {
    constexpr int rounds = 50;
    int inside = 0, entered = 0;
    const auto work = [&](auto& first, auto& second) {
        for (int i = 0; i < rounds; ++i) {
            std::lock(first, second);
            EXPECT_EQ(++inside, 1);
            ++entered;
            --inside;
            first.unlock();
            second.unlock();
        }
    };
    auto one = elsewhere([&] { work(this->stock, this->shelf); });
    auto two = elsewhere([&] { work(this->bobs_shelf, this->bobs); });
    soon(std::move(one));
    soon(std::move(two));
    EXPECT_EQ(entered, 2 * rounds);
    EXPECT_EQ(this->server.held_count(), 0u);
}

TYPED_TEST(StdLocks, TryLockOfTwoTakesBothOrNone) {
    this->server.occupy("shelf", 1h);
    EXPECT_EQ(std::try_lock(this->stock, this->shelf), 1);
    EXPECT_TRUE(this->is_free("stock"));
    this->server.vacate("shelf");
    EXPECT_EQ(std::try_lock(this->stock, this->shelf), -1);
    this->stock.unlock();
    this->shelf.unlock();
}

TYPED_TEST(StdLocks, AConditionVariableLetsGoOfThemWhileItWaits) {
    std::condition_variable_any changed;
    bool ready = false;
    auto producer = elsewhere([&] {
        const std::lock_guard held{this->stock};
        ready = true;
        changed.notify_one();
    });
    std::unique_lock held{this->stock};
    EXPECT_TRUE(changed.wait_for(held, support::far_too_long, [&] { return ready; }));
    EXPECT_TRUE(this->stock.is_held_by_this_thread());
    held.unlock();
    soon(std::move(producer));
}

TYPED_TEST(StdLocks, ThreadsOfOneClientExcludeEachOther) {
    constexpr int threads = 8, rounds = 50;
    int inside = 0, entered = 0;
    std::vector<std::future<void>> all;
    for (int i = 0; i < threads; ++i)
        all.push_back(elsewhere([&] {
            for (int round = 0; round < rounds; ++round) {
                const std::scoped_lock held{this->stock};
                EXPECT_EQ(++inside, 1);
                ++entered;
                --inside;
            }
        }));
    for (auto& each : all)
        soon(std::move(each));
    EXPECT_EQ(entered, threads * rounds);
}

} // namespace
} // namespace holdfast
