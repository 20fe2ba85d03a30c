// SPDX-License-Identifier: Apache-2.0
#include "mysql/store_fixture.hpp"
#include "sync/held_lock.hpp"

#include <holdfast/mysql/transaction_guard.hpp>

#include <boost/asio/use_future.hpp>

#include <atomic>
#include <mutex>

namespace holdfast::mysql {
namespace {

/// A session of the user's own, with other settings than the library's.
class TransactionGuard : public on_store {
protected:
    lease lease_of(mutex& lock, lease_time length) {
        return lock.async_lock(length, asio::use_future).get();
    }
    session users_own() {
        session one{server()};
        one.run("SET time_zone='+05:00'");
        return one;
    }

    /// `take` runs, and has its lock, while somebody's transaction keeps the row for longer than a
    /// request may take.
    template <typename Take>
    void expect_taken_behind_a_long_nail(Take take) {
        client home = make_client();
        mutex ours{home, name_};
        lease held = lease_of(ours, lease_time{5s});
        session user = users_own();
        user.run("START TRANSACTION");
        user.run(transaction_guard(held));
        ASSERT_EQ(user.changed(), 1U);
        // Else the kind of the lock that is still held would be refused, and not waited for.
        ASSERT_TRUE(support::eventually([&] { return !held.owns_lock() && !is_held(); }));
        client other = make_client({.unavailable_timeout = 100ms}); // a lock is no outage
        std::atomic<bool> committed = false;
        auto waited = meanwhile([&] {
            take(other);
            return committed.load();
        });
        EXPECT_TRUE(support::eventually(
            [&] { return server().counted("Innodb_row_lock_current_waits") > 0; }));
        wait_longer_than_a_request();
        committed = true;
        user.run("COMMIT");
        EXPECT_TRUE(support::soon(std::move(waited))) << "granted before the transaction ended";
    }
};

TEST_F(TransactionGuard, AGuardedLeaseOutlivesItsTerm) {
    client home = make_client(), other = make_client();
    mutex ours{home, name_}, theirs{other, name_};
    lease held = lease_of(ours, lease_time{5s});
    session user = users_own();
    user.run("START TRANSACTION");
    user.run(transaction_guard(held));
    ASSERT_EQ(user.changed(), 1U);
    ASSERT_TRUE(support::eventually([&] { return !held.owns_lock() && !is_held(); }));
    std::atomic<bool> committed = false;
    auto waited = meanwhile([&] {
        theirs.lock();
        return committed.load();
    });
    ASSERT_TRUE(
        support::eventually([&] { return server().counted("Innodb_row_lock_current_waits") > 0; }));
    committed = true;
    user.run("COMMIT");
    EXPECT_TRUE(support::soon(std::move(waited))) << "granted before the transaction ended";
}

TEST_F(TransactionGuard, WhoWaitsBehindALongOneIsServedWhenItEnds) {
    expect_taken_behind_a_long_nail([this](client& other) {
        mutex lock{other, name_};
        const std::scoped_lock inside{lock};
    });
}

TEST_F(TransactionGuard, WhoWaitsForItsTurnBehindALongOneIsServedWhenItEnds) {
    expect_taken_behind_a_long_nail([this](client& other) {
        fair_mutex lock{other, name_};
        const std::scoped_lock inside{lock};
    });
}

TEST_F(TransactionGuard, ReadersAndWritersBehindALongOneAreServedWhenItEnds) {
    expect_taken_behind_a_long_nail([this](client& other) {
        shared_mutex lock{other, name_};
        lock.lock_shared();
        lock.unlock_shared();
        const std::scoped_lock inside{lock};
    });
}

TEST_F(TransactionGuard, ATimedTryBehindOneIsBusy) {
    client home = make_client(), other = make_client();
    mutex ours{home, name_}, theirs{other, name_};
    lease held = lease_of(ours, lease_time{30s});
    session user = users_own();
    user.run("START TRANSACTION");
    user.run(transaction_guard(held));
    EXPECT_FALSE(theirs.try_lock());
    EXPECT_FALSE(theirs.try_lock_for(1500ms));
    user.run("COMMIT");
}

TEST_F(TransactionGuard, OfALostLeaseHasNoRow) {
    client home = make_client();
    mutex lock{home, name_};
    lease held = lease_of(lock, lease_time{3s});
    const std::string text = transaction_guard(held);
    ASSERT_TRUE(support::eventually([&] { return !is_held(); }));
    session user = users_own();
    user.run("START TRANSACTION");
    user.run(text);
    EXPECT_EQ(user.changed(), 0U);
    user.run("ROLLBACK");
}

TEST_F(TransactionGuard, OutsideATransactionHasNoRow) {
    client home = make_client();
    mutex lock{home, name_};
    lease held = lease_of(lock, lease_time{30s});
    session user = users_own();
    user.run(transaction_guard(held));
    EXPECT_EQ(user.changed(), 0U);
    user.run("SET autocommit=0");
    user.run(transaction_guard(held));
    EXPECT_EQ(user.changed(), 1U) << "the nail begins the transaction";
    user.run("ROLLBACK");
}

TEST_F(TransactionGuard, OfAnotherSchemaNamesIt) {
    client home = make_client();
    mutex lock{home, name_};
    lease held = lease_of(lock, lease_time{30s});
    session user = users_own();
    user.run("START TRANSACTION");
    user.run(
        transaction_guard(held, std::string{support::mariadb_server::schema} + ".holdfast_lock"));
    EXPECT_EQ(user.changed(), 1U);
    user.run("ROLLBACK");
}

TEST_F(TransactionGuard, IsForOneLockThatIsHeld) {
    client home = make_client();
    EXPECT_THROW((void)transaction_guard(lease{}), boost::system::system_error);
    shared_mutex lock{home, name_};
    lease reads = lock.async_lock_shared(asio::use_future).get();
    EXPECT_THROW((void)transaction_guard(reads), boost::system::system_error);
}

// What follows from that: HandOff.AHoldThatStaysWithItsHolderIsReleased (tests/unit/sync).
TEST_F(TransactionGuard, AGuardedLeaseIsNotHandedOn) {
    client home = make_client();
    mutex lock{home, name_};
    lease held = lease_of(lock, lease_time{30s});
    const auto& hold = dynamic_cast<const sync::held_lock&>(*held.hold());
    EXPECT_FALSE(hold.stays_with_its_holder());
    (void)transaction_guard(held);
    EXPECT_TRUE(hold.stays_with_its_holder());
}

} // namespace
} // namespace holdfast::mysql
