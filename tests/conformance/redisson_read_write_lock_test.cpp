// SPDX-License-Identifier: Apache-2.0
// RedissonReadWriteLockTest, as far as a lock of ours can be asked the same (README.md).
#include "conformance/suite.hpp"

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <thread>

namespace holdfast::conformance {
namespace {

class RedissonReadWriteLock : public suite {
protected:
    /// Where all but the others' clients belong.
    client& home() {
        if (!home_)
            home_.reset(new client{make_client()});
        return *home_;
    }
    static error_code unlocked_shared(shared_mutex& lock) {
        error_code ec;
        lock.unlock_shared(ec);
        return ec;
    }
    template <typename Work>
    static auto elsewhere(Work work) {
        decltype(work()) said{};
        std::thread{[&] { said = work(); }}.join();
        return said;
    }

private:
    std::unique_ptr<client> home_;
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(RedissonReadWriteLock, lock_kind::read);

TEST_P(RedissonReadWriteLock, AWriterEntersWhenTheLongerReadLeaseIsOver) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    shared_mutex lock{home(), "lock"};
    const auto reads_for = [&](duration length) {
        return elsewhere([&, length] {
            lock.lock_shared(lease_time{length});
            return true;
        });
    };
    reads_for(10s);
    reads_for(3s);
    store().pass(4s);
    client other = make_client();
    shared_mutex his{other, "lock"};
    EXPECT_FALSE(his.try_lock());
    store().pass(6s + 100ms);
    EXPECT_TRUE(his.try_lock());
    his.unlock();
}

TEST_P(RedissonReadWriteLock, IsLockedToldBySide) {
    shared_mutex lock{home(), "lock"};
    EXPECT_FALSE(lock.shared().is_locked());
    lock.lock();
    EXPECT_FALSE(lock.shared().is_locked());
    EXPECT_TRUE(lock.is_locked());
    lock.lock_shared();
    EXPECT_TRUE(lock.shared().is_locked());
    lock.unlock_shared();
    lock.unlock();
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(RedissonReadWriteLock, ATaggedNameIsReadByManyThreads) {
    shared_mutex lock{home(), "{test}:abc:key"};
    std::vector<std::thread> all;
    std::atomic<int> well = 0;
    for (int i = 0; i < 10; ++i)
        all.emplace_back([&] {
            for (int round = 0; round < 10; ++round) {
                lock.lock_shared();
                well += unlocked_shared(lock) ? 0 : 1;
            }
        });
    for (std::thread& each : all)
        each.join();
    EXPECT_EQ(well, 100);
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(RedissonReadWriteLock, AWritersLeaseThatIsOverLetsReadersIn) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    shared_mutex lock{home(), "lock"};
    client other = make_client();
    shared_mutex his{other, "lock"};
    elsewhere([&] { return (lock.lock(lease_time{10s}), true); });
    EXPECT_FALSE(his.try_lock_shared());
    store().pass(11s);
    EXPECT_TRUE(his.try_lock_shared());
    his.unlock_shared();
}

TEST_P(RedissonReadWriteLock, TheFirstReadersTimeEndsByItself) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    shared_mutex lock{home(), "lock"};
    client second = make_client(), third = make_client();
    shared_mutex hers{second, "lock"}, his{third, "lock"};
    elsewhere([&] { return (lock.lock_shared(lease_time{10s}), true); });
    store().pass(5s);
    EXPECT_TRUE(hers.try_lock_shared());
    hers.unlock_shared();
    EXPECT_FALSE(his.try_lock());
    store().pass(5s + 100ms);
    EXPECT_TRUE(his.try_lock());
    his.unlock();
}

TEST_P(RedissonReadWriteLock, WriteStaysWhenTheReadHoldUnderItEnds) {
    shared_mutex lock{home(), "lock"};
    lock.lock();
    lock.lock_shared();
    lock.unlock_shared();
    EXPECT_TRUE(lock.is_locked());
    lock.unlock();
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(RedissonReadWriteLock, TwentyReadersFollowAWriter) {
    shared_mutex lock{home(), "lock"};
    lock.lock();
    std::atomic<int> inside = 0;
    std::vector<std::thread> all;
    for (int i = 0; i < 20; ++i)
        all.emplace_back([&] {
            const std::shared_lock reading{lock};
            ++inside;
            while (inside < 20) // none leaves before all are in
                std::this_thread::yield();
        });
    lock.unlock();
    for (std::thread& each : all)
        each.join();
    EXPECT_EQ(inside, 20);
}

TEST_P(RedissonReadWriteLock, AnOwnerReadsUnderItsWriteAndOthersDoNot) {
    shared_mutex lock{home(), "lock"};
    client other = make_client();
    shared_mutex his{other, "lock"};
    lock.lock();
    lock.lock_shared();
    EXPECT_FALSE(his.try_lock_shared());
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock_shared(); }));
    lock.unlock();
    EXPECT_FALSE(his.try_lock());
    lock.unlock_shared();
    EXPECT_TRUE(his.try_lock());
    his.unlock();
}

TEST_P(RedissonReadWriteLock, ManyReadAndAWriterWaitsForAll) {
    shared_mutex lock{home(), "lock"};
    client other = make_client();
    shared_mutex his{other, "lock"};
    EXPECT_FALSE(lock.shared().force_unlock());
    lock.lock_shared();
    his.lock_shared();
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock(); }));
    lock.unlock_shared();
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock(); }));
    his.unlock_shared();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST_P(RedissonReadWriteLock, EachSideIsForcedInItsOwnModeOnly) {
    shared_mutex lock{home(), "lock"};
    lock.lock_shared();
    EXPECT_FALSE(lock.force_unlock());
    EXPECT_TRUE(lock.shared().force_unlock());
    EXPECT_EQ(unlocked_shared(lock), errc::lease_lost);
    lock.lock();
    EXPECT_FALSE(lock.shared().force_unlock());
    EXPECT_TRUE(lock.force_unlock());
    EXPECT_EQ(unlocked(lock), errc::lease_lost);
}

TEST_P(RedissonReadWriteLock, AReaderThatLeavesDoesNotEndAnothers) {
    shared_mutex lock{home(), "lock"};
    client other = make_client();
    shared_mutex his{other, "lock"};
    lock.lock_shared(lease_time{2s});
    EXPECT_TRUE(his.try_lock_shared());
    his.unlock_shared();
    EXPECT_FALSE(unlocked_shared(lock));
}

TEST_P(RedissonReadWriteLock, AnExpiredWritersUnlockIsTold) {
    shared_mutex lock{home(), "lock"};
    client other = make_client();
    shared_mutex his{other, "lock"};
    lock.lock(lease_time{2s});
    store().pass(2s + 100ms);
    EXPECT_TRUE(his.try_lock_for(support::far_too_long));
    EXPECT_EQ(unlocked(lock), errc::lease_lost);
    his.unlock();
}

TEST_P(RedissonReadWriteLock, HoldCountsOfBothSidesFollowNesting) {
    shared_mutex lock{home(), "lock", {.again = recursion::counted}};
    for (basic_mutex* const side : {&lock.shared(), static_cast<basic_mutex*>(&lock)}) {
        EXPECT_EQ(side->hold_count(), 0u);
        side->lock();
        side->lock();
        EXPECT_EQ(side->hold_count(), 2u);
        EXPECT_EQ(elsewhere([side] { return side->hold_count(); }), 0u);
        side->unlock();
        EXPECT_TRUE(side->is_held_by_this_thread());
        side->unlock();
        EXPECT_FALSE(side->is_held_by_this_thread());
    }
}

TEST_P(RedissonReadWriteLock, OnlyAReaderUnlocks) {
    shared_mutex lock{home(), "lock"};
    EXPECT_EQ(unlocked_shared(lock), errc::not_owner);
    lock.lock_shared();
    EXPECT_EQ(elsewhere([&] { return unlocked_shared(lock); }), errc::not_owner);
    EXPECT_FALSE(unlocked_shared(lock));
}

TEST_P(RedissonReadWriteLock, RandomMixesCountExactly) {
    const int rounds = scaled(10, 100);
    std::atomic<int> readers = 0, writers = 0, faults = 0, done = 0;
    const auto mix = [&](client& of, unsigned seed) {
        shared_mutex lock{of, "lock"};
        for (int i = 0; i < rounds; ++i) {
            seed = seed * 1'103'515'245 + 12'345;
            if ((seed >> 16) % 3 == 0) {
                const std::unique_lock writing{lock};
                faults += ++writers != 1 || readers != 0;
                --writers;
            } else {
                const std::shared_lock reading{lock};
                ++readers;
                faults += writers != 0;
                --readers;
            }
            ++done;
        }
    };
    client& mine = home();
    client other = make_client();
    std::vector<std::thread> all;
    for (unsigned i = 0; i < 8; ++i)
        all.emplace_back([&, i] { mix(i % 2 == 0 ? mine : other, i); });
    for (std::thread& each : all)
        each.join();
    EXPECT_EQ(faults, 0);
    EXPECT_EQ(done, 8 * rounds);
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(RedissonReadWriteLock, ADeadReaderBesideALivingOneDoesNotBlockForEver) {
    shared_mutex lock{home(), "lock"};
    client dead = make_client({.lease_time = 3s, .close_patience = 0ms});
    shared_mutex hers{dead, "lock"};
    lock.lock_shared(lease_time{20s});
    elsewhere([&] { return (hers.lock_shared(), true); });
    dead.close();
    store().pass(4s);
    lock.unlock_shared();
    EXPECT_TRUE(lock.try_lock_for(support::far_too_long));
    lock.unlock();
}

} // namespace
} // namespace holdfast::conformance
