// SPDX-License-Identifier: Apache-2.0
// Contract of read-write locks, on every store.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

namespace holdfast::conformance {
namespace {

class SharedContract : public suite {
protected:
    static std::future<lease> asked(basic_mutex& side) { return side.async_lock(asio::use_future); }
    bool somebody_listens() {
        return support::eventually([&] { return store().listeners() > 0; });
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(SharedContract, lock_kind::read);

TEST_P(SharedContract, ReadersHoldTogetherAndAWriterAlone) {
    client home = make_client(), other = make_client();
    shared_mutex first{home, "lock"}, second{other, "lock"};
    first.lock_shared();
    EXPECT_TRUE(second.try_lock_shared());
    error_code ec;
    second.unlock_shared(ec);
    EXPECT_FALSE(ec);
    EXPECT_FALSE(second.try_lock());
    first.unlock_shared();
    EXPECT_TRUE(second.try_lock());
    EXPECT_FALSE(first.try_lock_shared());
    EXPECT_FALSE(first.try_lock());
    second.unlock();
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(SharedContract, TheLastReadersReleaseWakesTheWriter) {
    client home = make_client({.poll_bound = hardly_ever});
    client other = make_client({.poll_bound = hardly_ever});
    shared_mutex first{home, "lock"}, second{other, "lock"};
    lease held = asked(first.shared()).get();
    std::future<lease> waiting = asked(second);
    ASSERT_TRUE(somebody_listens());
    held.unlock();
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
}

TEST_P(SharedContract, AWritersReleaseWakesAllReaders) {
    client home = make_client({.poll_bound = hardly_ever});
    client second = make_client({.poll_bound = hardly_ever});
    client third = make_client({.poll_bound = hardly_ever});
    shared_mutex writes{home, "lock"}, one{second, "lock"}, two{third, "lock"};
    lease held = asked(writes).get();
    std::future<lease> first = asked(one.shared());
    ASSERT_TRUE(somebody_listens());
    std::future<lease> last = asked(two.shared());
    ASSERT_NE(last.wait_for(20ms), std::future_status::ready);
    held.unlock();
    const lease a = support::soon(std::move(first)), b = support::soon(std::move(last));
    EXPECT_TRUE(a.owns_lock() && b.owns_lock());
}

TEST_P(SharedContract, AWriterThatWaitsKeepsNewReadersAwayAndHasItsTurn) {
    client home = make_client(), other = make_client(), third = make_client();
    shared_mutex reads{home, "lock"}, writes{other, "lock"}, new_one{third, "lock"};
    lease held = asked(reads.shared()).get();
    std::future<lease> waiting = asked(writes);
    ASSERT_TRUE(support::eventually([&] {
        if (!new_one.try_lock_shared())
            return true;
        new_one.unlock_shared();
        return false;
    }));
    held.unlock();
    lease got = support::soon(std::move(waiting));
    EXPECT_TRUE(got.owns_lock());
    got.unlock();
    EXPECT_TRUE(new_one.try_lock_shared());
    new_one.unlock_shared();
}

TEST_P(SharedContract, AWriterThatGivesUpLeavesNothingBehind) {
    client home = make_client(), other = make_client();
    shared_mutex reads{home, "lock"}, writes{other, "lock"};
    lease held = asked(reads.shared()).get();
    EXPECT_FALSE(writes.try_lock_for(20ms));
    EXPECT_TRUE(support::eventually([&] { return writes.try_lock_shared(); }));
    writes.unlock_shared();
    held.unlock();
    EXPECT_TRUE(support::eventually([&] { return store().held() == 0; }));
}

TEST_P(SharedContract, DowngradeAndUpgrade) {
    client home = make_client(), other = make_client();
    shared_mutex mine{home, "lock"}, his{other, "lock"};
    mine.lock();
    mine.lock_shared();
    EXPECT_FALSE(his.try_lock_shared());
    mine.unlock();
    EXPECT_TRUE(his.try_lock_shared());
    EXPECT_FALSE(mine.try_upgrade_for(10ms));
    his.unlock_shared();
    EXPECT_TRUE(mine.try_upgrade_for(10s));
    EXPECT_FALSE(his.try_lock_shared());
    mine.unlock_shared();
    EXPECT_FALSE(his.try_lock_shared()) << "the write hold stands by itself";
    mine.unlock();
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(SharedContract, OneOfTwoUpgradesIsTold) {
    client home = make_client(), other = make_client(), third = make_client();
    shared_mutex mine{home, "lock"}, his{other, "lock"}, hers{third, "lock"};
    lease one = asked(mine.shared()).get(), two = asked(his.shared()).get();
    auto first = mine.async_try_upgrade_for(one, 10min, asio::use_future);
    ASSERT_TRUE(support::eventually([&] { // until it waits
        if (!hers.try_lock_shared())
            return true;
        hers.unlock_shared();
        return false;
    }));
    error_code told;
    try {
        (void)his.async_try_upgrade_for(two, 10min, asio::use_future).get();
    } catch (const boost::system::system_error& e) {
        told = e.code();
    }
    EXPECT_EQ(told, errc::would_deadlock);
    two.unlock();
    std::optional<lease> up = support::soon(std::move(first));
    ASSERT_TRUE(up);
    EXPECT_TRUE(up->owns_lock());
}

TEST_P(SharedContract, SecondUpgradeOfOneHoldIsBusy) {
    client home = make_client();
    shared_mutex lock{home, "lock"};
    const lease held = asked(lock.shared()).get();
    std::optional<lease> first = lock.async_try_upgrade_for(held, 10s, asio::use_future).get();
    ASSERT_TRUE(first);
    EXPECT_FALSE(lock.async_try_upgrade_for(held, 50ms, asio::use_future).get());
    first->unlock();
    EXPECT_TRUE(lock.async_try_upgrade_for(held, 10s, asio::use_future).get());
}

TEST_P(SharedContract, AnUpgradeOfAHoldThatIsGoneIsLost) {
    client home = make_client();
    shared_mutex lock{home, "lock"};
    const lease held = asked(lock.shared()).get();
    store().evict("lock");
    try {
        (void)lock.async_try_upgrade_for(held, 1s, asio::use_future).get();
        FAIL();
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), errc::lease_lost);
    }
    EXPECT_TRUE(support::eventually([&] { return !held.owns_lock(); }));
}

TEST_P(SharedContract, UpgradeWhoseReadHoldIsReleasedKeepsNoReaderAway) {
    client home = make_client(), third = make_client();
    client other = make_client({.poll_bound = 4s}); // a mark that stays lasts twice as long
    shared_mutex his{home, "lock"}, mine{other, "lock"}, hers{third, "lock"};
    const lease stays = asked(his.shared()).get();
    lease under = asked(mine.shared()).get();
    auto upgrade = mine.async_try_upgrade_for(under, 30s, asio::use_future);
    ASSERT_TRUE(support::eventually([&] { // until it waits
        if (!hers.try_lock_shared())
            return true;
        hers.unlock_shared();
        return false;
    }));
    under.unlock();
    error_code told;
    try {
        (void)support::soon(std::move(upgrade));
    } catch (const boost::system::system_error& e) {
        told = e.code();
    }
    EXPECT_EQ(told, errc::lease_lost);
    ASSERT_TRUE(hers.try_lock_shared_for(3s));
    hers.unlock_shared();
}

TEST_P(SharedContract, AStrangersSideIsSeen) {
    client home = make_client();
    shared_mutex lock{home, "lock"};
    store().stranger_shares("lock", lock_kind::read, 20s);
    EXPECT_TRUE(lock.try_lock_shared());
    lock.unlock_shared();
    EXPECT_FALSE(lock.try_lock());
    EXPECT_TRUE(lock.shared().is_locked());
    EXPECT_FALSE(lock.is_locked());
    EXPECT_FALSE(lock.force_unlock());
    store().stranger_shares("lock", lock_kind::write, 20s);
    EXPECT_FALSE(lock.try_lock_shared());
    EXPECT_FALSE(lock.shared().is_locked());
    EXPECT_GT(lock.remaining_lease().value(), 10s);
    EXPECT_FALSE(lock.shared().remaining_lease());
    EXPECT_FALSE(lock.shared().force_unlock());
    EXPECT_TRUE(lock.force_unlock());
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST_P(SharedContract, AReadHoldThatHasExpiredBesideAWriteHoldIsNotSeen) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {}};
    client other = make_client();
    shared_mutex lock{home.get(), "lock"}, theirs{other, "lock"};
    ASSERT_TRUE(lock.try_lock(lease_time{60s}));
    ASSERT_TRUE(lock.shared().try_lock(lease_time{10s}));
    EXPECT_TRUE(theirs.shared().is_locked());
    home.pass(20s);
    EXPECT_FALSE(theirs.shared().is_locked());
    EXPECT_TRUE(theirs.is_locked());
    error_code ec;
    lock.unlock_shared(ec);
    EXPECT_EQ(ec, errc::lease_lost);
    lock.unlock();
}

TEST_P(SharedContract, ALockOfAnotherKindIsRefused) {
    HOLDFAST_NEEDS(tells_kinds_apart);
    client home = make_client();
    shared_mutex lock{home, "lock"};
    mutex plain{home, "lock"};
    store().stranger_takes("lock", 30s);
    for (basic_mutex* const side : {static_cast<basic_mutex*>(&lock), &lock.shared()})
        try {
            (void)side->try_lock();
            FAIL();
        } catch (const boost::system::system_error& e) {
            EXPECT_EQ(e.code(), store_errc::wrong_type);
        }
    store().evict("lock");
    const lease held = asked(lock.shared()).get();
    try {
        (void)plain.try_lock();
        FAIL();
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), store_errc::wrong_type);
    }
}

TEST_P(SharedContract, ALostAnswerTakesNothingForEver) {
    options how;
    store().reach_badly(how);
    client home{std::move(how)}, other = make_client();
    shared_mutex bad{home, "lock"}, good{other, "lock"};
    for (const bool reads : {true, false}) {
        basic_mutex& side = reads ? bad.shared() : static_cast<basic_mutex&>(bad);
        store().lose_answer_about("lock");
        side.lock(); // by asking once more
        EXPECT_FALSE(good.try_lock());
        side.unlock();
        EXPECT_TRUE(good.try_lock());
        good.unlock();
    }
    EXPECT_EQ(store().held(), 0u);
}

TEST_P(SharedContract, ForceUnlockFindsAWriterByTheOwnerOfItsLease) {
    client home = make_client(), other = make_client();
    shared_mutex lock{home, "lock"};
    for (const bool reads : {true, false}) {
        basic_mutex& side = reads ? lock.shared() : static_cast<basic_mutex&>(lock);
        const lease held = asked(side).get();
        EXPECT_FALSE(other.force_unlock(lock_name{"lock"}, "an-owner-that-does-not-hold-it:1"));
        EXPECT_TRUE(lock.is_locked() || lock.shared().is_locked());
        EXPECT_TRUE(other.force_unlock(lock_name{"lock"}, held.owner()));
        EXPECT_FALSE(lock.is_locked() || lock.shared().is_locked());
    }
}

TEST_P(SharedContract, BothSidesAreRenewed) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client here{store(), {.lease_time = 6s}};
    shared_mutex lock{here.get(), "lock"};
    const lease reads = asked(lock.shared()).get();
    auto up = lock.async_try_upgrade_for(reads, 1s, asio::use_future).get();
    ASSERT_TRUE(up);
    for (int i = 0; i < 9; ++i) {
        here.pass(2s + 1ms);
        ASSERT_TRUE(
            support::eventually([&] { return reads.remaining() > 5s && up->remaining() > 5s; }));
    }
    up->unlock();
    for (int i = 0; i < 9; ++i) {
        here.pass(2s + 1ms);
        ASSERT_TRUE(support::eventually([&] { return reads.remaining() > 5s; }));
    }
    EXPECT_TRUE(lock.shared().is_locked());
}

} // namespace
} // namespace holdfast::conformance
