// SPDX-License-Identifier: Apache-2.0
// Read-write locks in the local queue of a client: which calls share a hold, which calls wait, and
// which requests the store gets.
#include "unit/sync/stage.hpp"

#include <holdfast/spin_mutex.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sync {
namespace {

class Shared : public on_shared_stage {};

TEST_F(Shared, ReadersOfTwoClientsHoldAtOnce) {
    lease one = read();
    said<lease> two = reader(bobs);
    ASSERT_TRUE(two.well());
    EXPECT_EQ(owners(), 2u);
    said<lease> late = writer(prices);
    run_for(1min);
    EXPECT_FALSE(late.done());
    release(std::move(one));
    EXPECT_FALSE(late.done());
    release(two.take());
    EXPECT_TRUE(late.well());
    EXPECT_FALSE(reader(bobs).done());
    release(late.take());
}

TEST_F(Shared, ReadersOfOneClientShareAHoldForAWhile) {
    lease one = read();
    lease two = read();
    EXPECT_EQ(alice.count(verb::look), 1u);
    EXPECT_EQ(one.owner(), two.owner());
    run_for(20ms); // options::hand_off::within
    lease three = read();
    EXPECT_EQ(alice.count(verb::look), 2u) << "each client meets the writers of others at times";
    release(std::move(one));
    EXPECT_TRUE(two.owns_lock());
    EXPECT_EQ(alice.count(verb::release), 0u);
    release(std::move(two));
    EXPECT_EQ(alice.count(verb::release), 1u);
    EXPECT_EQ(owners(), 1u);
    release(std::move(three));
    EXPECT_EQ(held_count(server), 0u);
}

TEST_F(Shared, AHoldThatIsSharedIsOneForTheObserver) {
    lease one = read(), two = read();
    EXPECT_EQ(alice.ear->count(event_kind::acquired), 1u);
    release(std::move(one));
    EXPECT_EQ(alice.ear->count(event_kind::released), 0u);
    release(std::move(two));
    EXPECT_EQ(alice.ear->count(event_kind::released), 1u);
}

TEST_F(Shared, ReadersThatArriveWhileOneAsksShareWhatItGets) {
    alice.always.answer_delay = 100ms;
    std::vector<said<lease>> all;
    for (int i = 0; i < 10; ++i)
        all.push_back(reader(prices));
    run_for(100ms);
    for (const said<lease>& each : all)
        EXPECT_TRUE(each.well());
    EXPECT_EQ(alice.count(verb::look), 1u);
}

TEST_F(Shared, HoldIsNotSharedWithAReaderThatWantsAShorterLease) {
    actor& carol = enter({.lease_time = 30s, .hand_off = {.times_max = 1000, .within = 1h}});
    shared_mutex usual{carol, "stock"}, brief{carol, "stock", {.lease = lease_time{29s}}};
    const lease one = taken(usual.shared());
    run_for(1900ms); // less than 29 s are left now, but the next renewal asks for 30 s
    const lease two = taken(brief.shared());
    EXPECT_NE(one.owner(), two.owner());
}

TEST_F(Shared, AReaderWithALeaseTimeHasAHoldOfItsOwn) {
    lease usual = read();
    lease fixed = taken(prices.shared(), lease_time{5s});
    EXPECT_NE(usual.owner(), fixed.owner());
    lease other = read();
    EXPECT_EQ(other.owner(), usual.owner());
    run_for(6s);
    EXPECT_FALSE(fixed.owns_lock());
    EXPECT_TRUE(usual.owns_lock());
}

TEST_F(Shared, AReaderDoesNotPassAWriterOfItsClient) {
    lease held = read();
    said<lease> writes = writer(prices);
    said<lease> behind = reader(prices);
    EXPECT_FALSE(behind.done());
    release(std::move(held));
    ASSERT_TRUE(writes.well());
    EXPECT_FALSE(behind.done());
    release(writes.take());
    EXPECT_TRUE(behind.well());
}

TEST_F(Shared, ReadersGoOnWhenTheWriterBeforeThemGivesUp) {
    lease held = read();
    said<std::optional<lease>> writes;
    alone.async_try_lock_for(5ms, writes.handler());
    settle();
    said<lease> behind = reader(prices);
    run_for(5ms);
    ASSERT_TRUE(writes.well());
    EXPECT_FALSE(writes.value());
    ASSERT_TRUE(behind.well());
    EXPECT_EQ(behind.value().owner(), held.owner());
}

TEST_F(Shared, AWriterThatWaitsKeepsReadersOfOtherClientsAway) {
    lease held = read();
    said<lease> writes = writer(bobs);
    run_for(20ms); // else she would share what she has
    said<lease> behind = reader(prices);
    EXPECT_FALSE(behind.done());
    release(std::move(held));
    ASSERT_TRUE(writes.well());
    release(writes.take());
    EXPECT_TRUE(behind.well());
}

// As a JVM's writer does, who leaves no mark and hears of a release later than who released.
TEST_F(Shared, WhereOthersListenTheyHaveAMomentWhenTheLastReaderHasLeft) {
    lease one = read();
    said<bool> told;
    bob.program->async_wait_free("prices", 1min, told.handler());
    settle();
    release(std::move(one));
    EXPECT_TRUE(told.well());
    lease two = read();
    run_for(15ms); // else it would be shared
    said<lease> next = reader(prices);
    EXPECT_FALSE(next.done());
    release(std::move(two));
    EXPECT_FALSE(next.done()) << "nobody else could have had it";
    run_for(2ms);
    EXPECT_TRUE(next.well());
}

TEST_F(Shared, AWriterThatGivesUpLetsReadersInAtOnce) {
    lease held = read();
    said<std::optional<lease>> writes;
    static_cast<basic_mutex&>(bobs).async_try_lock_for(1s, writes.handler());
    settle();
    run_for(500ms);
    said<lease> behind = reader(prices);
    EXPECT_FALSE(behind.done());
    run_for(500ms);
    ASSERT_TRUE(writes.well());
    EXPECT_TRUE(behind.well()) << "the mark was taken away, and that was told";
}

TEST_F(Shared, ADeadWritersMarkHoldsNobodyBackForLong) {
    lease held = read();
    {
        actor& carol = enter({.poll_bound = 1s});
        shared_mutex hers{carol, "prices"};
        said<lease> writes = writer(hers);
        carol.always.request_lost = true; // she is never heard of again
        said<> closed = close(carol);
        run_for(20ms);
    }
    said<lease> behind = reader(prices);
    EXPECT_FALSE(behind.done());
    release(std::move(held));
    run_for(150ms);
    EXPECT_TRUE(behind.well()) << "a free lock is kept for it no longer than its head start";
}

TEST_F(Shared, WritersPassTheHoldOnUnlessSomebodyReadsUnderIt) {
    lease first = written();
    said<lease> second = writer(prices);
    release(std::move(first));
    ASSERT_TRUE(second.well());
    EXPECT_EQ(alice.count(verb::look), 1u);
    said<lease> under;
    prices.async_lock_shared(second.value(), under.handler());
    settle();
    ASSERT_TRUE(under.well());
    said<lease> third = writer(prices);
    release(second.take());
    EXPECT_FALSE(third.done());
    release(under.take());
    EXPECT_TRUE(third.well());
}

TEST_F(Shared, ADowngradeLetsOthersReadAtOnce) {
    lease held = written();
    said<lease> under, wanted = reader(bobs);
    prices.async_lock_shared(held, under.handler());
    settle();
    ASSERT_TRUE(under.well());
    EXPECT_NE(under.value().owner(), held.owner());
    EXPECT_FALSE(wanted.done());
    release(std::move(held));
    EXPECT_TRUE(wanted.well());
    EXPECT_TRUE(under.value().owns_lock());
    EXPECT_EQ(owners(), 2u);
}

TEST_F(Shared, AWriteHoldOutlivesTheReadHoldUnderIt) {
    lease held = written();
    said<lease> under;
    prices.async_lock_shared(held, under.handler());
    settle();
    release(under.take());
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(reader(bobs).done());
    run_for(10min);
    EXPECT_TRUE(held.owns_lock());
}

TEST_F(Shared, AnUpgradeWaitsForOtherReadersAndNobodyWritesBetween) {
    lease mine = read();
    said<lease> his = reader(bobs);
    auto up = upgraded(prices, mine);
    EXPECT_FALSE(up.done());
    EXPECT_FALSE(reader(prices).done()) << "no new reader of this client";
    release(his.take());
    ASSERT_TRUE(up.well());
    ASSERT_TRUE(up.value());
    EXPECT_NE(up.value()->owner(), mine.owner());
    EXPECT_TRUE(mine.owns_lock());
    release(std::move(*up.take()));
    EXPECT_TRUE(mine.owns_lock());
}

TEST_F(Shared, AnUpgradeFirstWaitsForThoseWhoShareTheHold) {
    lease mine = read(), other = read();
    auto up = upgraded(prices, mine);
    EXPECT_EQ(alice.count(verb::look), 1u) << "nothing is asked yet";
    release(std::move(other));
    ASSERT_TRUE(up.well());
    EXPECT_TRUE(up.value());
}

TEST_F(Shared, AnUpgradePassesTheWriterThatWaitsForItsHold) {
    lease mine = read();
    said<lease> waits = writer(prices);
    auto up = upgraded(prices, mine);
    ASSERT_TRUE(up.well());
    ASSERT_TRUE(up.value());
    release(std::move(*up.take()));
    EXPECT_FALSE(waits.done());
    release(std::move(mine));
    EXPECT_TRUE(waits.well());
}

TEST_F(Shared, AnUpgradeGivesUpWhenItsTimeoutIsOver) {
    lease mine = read(), other = read();
    auto up = upgraded(prices, mine, 1s);
    run_for(1s);
    ASSERT_TRUE(up.well());
    EXPECT_FALSE(up.value());
    EXPECT_TRUE(mine.owns_lock());
    said<lease> more = reader(prices);
    EXPECT_TRUE(more.well());
}

TEST_F(Shared, TwoUpgradesWouldWaitForEachOther) {
    lease one = read(), two = read();
    auto first = upgraded(prices, one);
    auto second = upgraded(prices, two);
    EXPECT_TRUE(second.failed(errc::would_deadlock));
    release(std::move(two));
    EXPECT_TRUE(first.well());
}

TEST_F(Shared, TwoUpgradesOfTwoClientsWouldToo) {
    lease mine = read();
    said<lease> his = reader(bobs);
    auto first = upgraded(prices, mine);
    auto second = upgraded(bobs, his.value());
    EXPECT_TRUE(second.failed(errc::would_deadlock));
    EXPECT_TRUE(his.value().owns_lock());
    release(his.take());
    ASSERT_TRUE(first.well());
    EXPECT_TRUE(first.value());
}

TEST_F(Shared, AnUpgradeWhoseLeaseIsReleasedIsLostAlthoughAnotherShareIsLeft) {
    lease mine = read(), other = read();
    auto up = upgraded(prices, mine);
    release(std::move(mine));
    EXPECT_TRUE(up.failed(errc::lease_lost));
    EXPECT_TRUE(other.owns_lock());
    EXPECT_TRUE(reader(prices).well());
}

TEST_F(Shared, AWriteHoldOverAReadHoldIsReleasedUntilThatIsKnown) {
    lease mine = read();
    auto up = upgraded(prices, mine);
    ASSERT_TRUE(up.well() && up.value());
    for (int i = 0; i < 60; ++i) // for longer than the lease of the write hold
        alice.planned.emplace_back(verb::release, fate{.refused = true});
    said<> told;
    std::move(*up.take()).async_unlock(told.handler());
    run_for(1min);
    EXPECT_TRUE(told.failed(errc::unreachable));
    EXPECT_TRUE(mine.owns_lock());
    EXPECT_TRUE(reader(bobs).well());
}

TEST_F(Shared, AnUpgradeOfAHoldThatTheStoreForgotIsLost) {
    lease mine = read();
    server.evict("prices");
    auto up = upgraded(prices, mine);
    EXPECT_TRUE(up.failed(errc::lease_lost));
    settle();
    EXPECT_FALSE(mine.owns_lock()) << "it was asked for at once";
}

TEST_F(Shared, NeitherSideTakesALeaseOfSomethingElse) {
    lease mine = read(), other;
    EXPECT_TRUE(upgraded(bobs, mine).failed(errc::not_owner));
    EXPECT_TRUE(upgraded(prices, other).failed(errc::not_owner));
    said<lease> under;
    prices.async_lock_shared(mine, under.handler());
    settle();
    EXPECT_TRUE(under.failed(errc::not_owner));
}

TEST_F(Shared, FixedReadLeasesAreAskedForWithTheRestOfTheirTermEveryTwoSeconds) {
    lease held = taken(prices.shared(), lease_time{10min});
    run_for(2s);
    ASSERT_EQ(alice.count(verb::renew), 1u);
    const duration asked = alice.all(verb::renew).front().lease_time;
    EXPECT_LE(asked, 10min) << "which is not prolonged";
    EXPECT_GE(asked, 10min - 2100ms);
}

TEST_F(Shared, EachSideTellsOfItself) {
    const auto locked = [this](basic_mutex& m) {
        said<bool> told;
        m.async_is_locked(told.handler());
        settle();
        return told.value();
    };
    const auto forced = [this](basic_mutex& m) {
        said<bool> told;
        m.async_force_unlock(told.handler());
        settle();
        return told.value();
    };
    lease held = read();
    EXPECT_TRUE(locked(prices.shared()));
    EXPECT_FALSE(locked(alone));
    EXPECT_FALSE(forced(alone));
    EXPECT_TRUE(forced(prices.shared()));
    EXPECT_FALSE(held.owns_lock());
    held = written();
    EXPECT_FALSE(locked(prices.shared()));
    EXPECT_TRUE(locked(alone));
    EXPECT_FALSE(forced(prices.shared()));
    EXPECT_TRUE(forced(alone));
    EXPECT_FALSE(held.owns_lock());
}

TEST_F(Shared, ALockOfAnotherKindIsRefused) {
    mutex plain{bob, "prices"};
    lease held = taken(plain);
    EXPECT_TRUE(reader(prices).failed(errc::refused));
    EXPECT_TRUE(writer(prices).failed(errc::refused));
    release(std::move(held));
    lease shares = read();
    said<std::optional<lease>> tried;
    plain.async_try_lock(tried.handler());
    settle();
    EXPECT_TRUE(tried.failed(errc::refused));
}

// A lock that can be shared, when its client's own calls come between: a hand-off, a deferred
// release, an upgrade that has just ended, a lock of another type under the same name.

class SharedAside : public on_shared_stage {};

TEST_F(SharedAside, NobodyReadsUnderAWriteHoldThatIsAnothersByNow) {
    lease held = written();
    said<lease> next = writer(prices), under;
    prices.async_lock_shared(held, under.handler());
    held.hold()->release(release_handler{[](const failure&) {}}, io.get_executor());
    settle(); // it is handed on before the reader begins
    ASSERT_TRUE(next.well());
    EXPECT_TRUE(under.failed(errc::lease_lost));
    EXPECT_EQ(owners(), 1u);
    release(next.take());
}

TEST_F(SharedAside, ATryBesideAReleaseThatIsNotWaitedForIsBusyAtOnce) {
    shared_mutex mine{alice, "prices", {.deferred = true}};
    lease held = taken(mine.shared(), lease_time{1min});
    said<lease> writes = writer(bobs), queued;
    mine.shared().async_lock(lease_time{1min}, queued.handler());
    settle();
    ASSERT_FALSE(queued.done()) << "behind the writer's mark";
    alice.planned.emplace_back(verb::release, fate{.request_delay = 1s});
    held.async_unlock(said{}.handler());
    settle();
    said<std::optional<lease>> tried;
    static_cast<basic_mutex&>(mine).async_try_lock(tried.handler());
    settle();
    ASSERT_TRUE(tried.well());
    EXPECT_FALSE(tried.value());
    run_for(5s);
    release(writes.take());
    run_for(1s);
    release(queued.take());
}

TEST_F(SharedAside, AnUpgradeThatHasEndedIsNotInTheWayOfTheNext) {
    lease mine = read();
    lease other = taken(bobs.shared());
    said<std::optional<lease>> again;
    prices.async_try_upgrade_for(mine, 1s, [&](const error_code&, std::optional<lease>) {
        prices.async_try_upgrade_for(mine, 1s, again.handler());
    });
    run_for(5s);
    ASSERT_TRUE(again.well());
    EXPECT_FALSE(again.value());
    release(std::move(other));
    release(std::move(mine));
}

TEST_F(SharedAside, ALeaseOfAnotherTypeOfLockIsNotEnteredAgain) {
    recursive_mutex same_name{alice, "prices"};
    const lease shared = read();
    said<lease> inner;
    same_name.async_lock(shared, inner.handler());
    settle();
    EXPECT_TRUE(inner.failed(errc::not_owner));
}

// Effects of other programs and clients on a hold or a wait: reading JVMs shorten the leases of all
// readers, and a client that takes a spin lock again and again keeps others from getting it.

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
    EXPECT_LE(alice.count(verb::renew) - before, 50u) << "of ten renewals of a hundred holds";
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

// A failover loses the release of a write hold. The read hold beside it is renewed, and would keep
// the write hold at the store for as long.

class LostRelease : public on_shared_stage {
protected:
    LostRelease() {
        server.replicate(1, 0ms);
        run_for(10ms);
    }
    lease upgrade(const lease& from) {
        said<std::optional<lease>> told = upgraded(prices, from);
        EXPECT_TRUE(told.well());
        return std::move(told.take().value());
    }
    lease read_beside(const lease& writes) {
        said<lease> told;
        prices.async_lock_shared(writes, told.handler());
        settle();
        EXPECT_TRUE(told.well());
        return told.take();
    }
    /// The replica gets nothing more of what is written, and becomes the primary.
    void lose(lease last) {
        server.cut_replica(1);
        release(std::move(last));
        EXPECT_FALSE(inspect(server, "prices")->alone);
        server.promote(1);
        EXPECT_TRUE(inspect(server, "prices")->alone) << "the failover has lost nothing";
        server.demote(0);
        run_for(100ms);
    }
};

TEST_F(LostRelease, UpgradeIsReleasedAgainAtTheNewPrimary) {
    const lease reads = read();
    lose(upgrade(reads));
    EXPECT_TRUE(reads.owns_lock());
    EXPECT_TRUE(reader(bobs).well()) << "nobody writes any more";
}

TEST_F(LostRelease, DowngradeIsRepeatedAtTheNewPrimary) {
    lease writes = written();
    const lease reads = read_beside(writes);
    lose(std::move(writes));
    EXPECT_TRUE(reads.owns_lock());
    EXPECT_TRUE(reader(bobs).well()) << "nobody writes any more";
}

TEST_F(LostRelease, EachOfSeveralUpgradesIsReleasedAgain) {
    const lease reads = read();
    lease first = upgrade(reads);
    server.cut_replica(1);
    release(std::move(first));
    for (int i = 0; i < 3; ++i)
        release(upgrade(reads));
    server.promote(1);
    EXPECT_TRUE(inspect(server, "prices")->alone) << "the replica knows the first upgrade only";
    server.demote(0);
    run_for(100ms);
    EXPECT_TRUE(reader(bobs).well());
}

TEST_F(LostRelease, ReleaseIsRepeatedUntilTheNewPrimaryAnswers) {
    const lease reads = read();
    lease writes = upgrade(reads);
    server.cut_replica(1);
    release(std::move(writes));
    alice.planned.emplace_back(verb::release, fate{.request_lost = true});
    server.promote(1);
    server.demote(0);
    run_for(10s);
    EXPECT_TRUE(reads.owns_lock());
    EXPECT_TRUE(reader(bobs).well());
}

} // namespace
} // namespace holdfast::sync
