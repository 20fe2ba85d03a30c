// SPDX-License-Identifier: Apache-2.0
// What other programs and clients do to a hold or a wait: JVMs that read cut the leases of all
// readers, and a client that takes a spin lock again and again shuts others out.
#include "unit/sync/shared_stage.hpp"

#include <holdfast/spin_mutex.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sync {
namespace {

class ForeignReaders : public on_shared_stage {
protected:
    /// A JVM comes, renews every third of its watchdog time, and dies or leaves.
    void read_as_jvm(duration watchdog, duration for_so_long, bool dies) {
        server.occupy("prices", watchdog, lock_kind::read);
        for (duration passed{}; passed < for_so_long; passed += watchdog / 3) {
            run_for(watchdog / 3);
            cut_readers(server, "prices", watchdog);
        }
        if (!dies)
            server.vacate("prices");
    }
    void expect_no_writer_for(duration length) {
        for (duration passed{}; passed < length; passed += 100ms) {
            run_for(100ms);
            said<std::optional<lease>> told;
            static_cast<basic_mutex&>(bobs).async_try_lock(told.handler());
            settle();
            ASSERT_TRUE(told.well());
            ASSERT_FALSE(told.value()) << passed.count() << " ms after the JVM";
        }
    }
};

TEST_F(ForeignReaders, FixedReadLeaseOutlivesAJvmThatCutsIt) {
    const lease held = taken(prices.shared(), lease_time{2min});
    run_for(100ms);
    read_as_jvm(3s, 1s, false);
    expect_no_writer_for(60s);
    EXPECT_GT(held.remaining(), 50s);
    run_for(2min);
    EXPECT_FALSE(held.owns_lock()) << "it is not renewed";
    EXPECT_EQ(owners(), 0u);
}

TEST_F(ForeignReaders, FixedReadLeasesOfAboutTheSameLengthAreAskedForTogether) {
    std::vector<lease> held;
    std::deque<shared_mutex> locks;
    for (int i = 0; i < 100; ++i) {
        locks.emplace_back(alice, "prices" + std::to_string(i));
        held.push_back(taken(locks.back().shared(), lease_time{2min}));
        run_for(3ms);
    }
    run_for(10s);
    const std::size_t before = alice.count(verb::renew);
    run_for(20s);
    EXPECT_LE(alice.count(verb::renew) - before, 50u) << "of ten contacts of a hundred holds";
    for (const lease& each : held)
        EXPECT_TRUE(each.owns_lock());
}

TEST_F(ForeignReaders, RenewedReadLeaseOutlivesAJvmThatDies) {
    const lease held = read();
    run_for(100ms);
    read_as_jvm(3s, 1s, true);
    expect_no_writer_for(60s);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(ForeignReaders, ShortWatchdogTimeIsLearnt) {
    const lease held = read(), other = taken(bobs.shared(), lease_time{1h});
    read_as_jvm(1s, 6s, true);
    expect_no_writer_for(30s);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(other.owns_lock());
    const std::size_t before = alice.count(verb::renew);
    run_for(20s);
    EXPECT_LE(alice.count(verb::renew) - before, 11u) << "when it is gone, every two seconds";
}

TEST_F(ForeignReaders, WhatOthersHaveIsLearntFromTheGrant) {
    server.occupy("prices", 1s, lock_kind::read);
    const lease held = read();
    run_for(400ms);
    EXPECT_GE(alice.count(verb::renew), 1u);
}

class SpinTurns : public on_stage {};

TEST_F(SpinTurns, ClientThatTakesItAgainAtOnceLetsOthersHaveIt) {
    actor &alice = enter(), &bob = enter();
    spin_mutex hers{alice, "stock"}, his{bob, "stock"};
    int her_times = 0, his_times = 0;
    auto her_wait = std::make_unique<said<lease>>(), his_wait = std::make_unique<said<lease>>();
    hers.async_lock(her_wait->handler());
    settle();
    his.async_lock(his_wait->handler());
    const auto turn = [this](spin_mutex& lock, std::unique_ptr<said<lease>>& wait, int& times) {
        if (!wait->done())
            return;
        ASSERT_TRUE(wait->well());
        ++times;
        wait->take().async_unlock(said{}.handler());
        settle();
        wait = std::make_unique<said<lease>>();
        lock.async_lock(wait->handler());
        settle();
    };
    for (int i = 0; i < 10'000; ++i) {
        run_for(1ms);
        turn(hers, her_wait, her_times);
        turn(his, his_wait, his_times);
    }
    EXPECT_GT(her_times, 1'000);
    EXPECT_GT(his_times, 1'000);
    const auto end = [&](std::unique_ptr<said<lease>>& wait) {
        run_for(1s);
        if (wait->done())
            wait->take().async_unlock(said{}.handler());
    };
    end(her_wait);
    end(his_wait);
    end(her_wait);
}

TEST_F(SpinTurns, ClientAloneDoesNotPause) {
    actor& alice = enter();
    spin_mutex hers{alice, "stock"};
    for (int i = 0; i < 2'000; ++i) {
        lease held = taken(hers); // at once, or it throws
        run_for(1ms);
        held.async_unlock(said{}.handler());
        settle();
    }
}

} // namespace
} // namespace holdfast::sync
