// SPDX-License-Identifier: Apache-2.0
// The contract of every store, for one client and for several clients.
#include "conformance/suite.hpp"

#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>
#include <holdfast/shared_mutex.hpp>

#include <boost/asio/use_future.hpp>

#include <future>
#include <mutex>
#include <optional>
#include <string>

namespace holdfast::conformance {
namespace {

// Contract of every store: names, notifications, holders of other libraries, and no data left
// behind.

class Contract : public suite {};
HOLDFAST_ON_EACH_STORE_WITH(Contract, lock_kind::spin, lock_kind::fenced, lock_kind::token);

TEST_P(Contract, TwoOwnersNeverHoldAtOnce) {
    client home = make_client(), other = make_client();
    mutex first{home, "lock"}, second{other, "lock"}, same{home, "lock"};
    lease held = first.async_lock(asio::use_future).get();
    EXPECT_FALSE(second.try_lock());
    EXPECT_FALSE(same.try_lock());
    held.unlock();
    EXPECT_TRUE(second.try_lock());
    EXPECT_FALSE(first.try_lock());
    second.unlock();
}

TEST_P(Contract, AReleaseWakesTheWaiter) {
    client home = make_client({.poll_bound = hardly_ever});
    client other = make_client({.poll_bound = hardly_ever});
    mutex first{home, "lock"}, second{other, "lock"};
    lease held = first.async_lock(asio::use_future).get();
    std::future<lease> waiting = second.async_lock(asio::use_future);
    ASSERT_TRUE(somebody_waits());
    held.unlock();
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
}

TEST_P(Contract, AStrangersReleaseWakesTheWaiter) {
    client home = make_client({.poll_bound = hardly_ever});
    mutex lock{home, "lock"};
    store().stranger_takes("lock", 30s);
    std::future<lease> waiting = lock.async_lock(asio::use_future);
    ASSERT_TRUE(somebody_waits());
    store().stranger_releases("lock");
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
}

TEST_P(Contract, AWaiterSurvivesALostBell) {
    client home = make_client();
    mutex lock{home, "lock"};
    store().stranger_takes("lock", 30s);
    std::future<lease> waiting = lock.async_lock(asio::use_future);
    ASSERT_TRUE(somebody_waits());
    store().evict("lock"); // tells nobody
    EXPECT_TRUE(support::soon(std::move(waiting)).owns_lock());
}

TEST_P(Contract, AStrangersHoldIsSeenAndForced) {
    client home = make_client();
    mutex lock{home, "lock"};
    store().stranger_takes("lock", 20s);
    EXPECT_FALSE(lock.try_lock());
    EXPECT_TRUE(lock.is_locked());
    EXPECT_GT(lock.remaining_lease().value(), 10s);
    EXPECT_FALSE(lock.is_held_by_this_thread());
    EXPECT_TRUE(lock.force_unlock());
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST_P(Contract, NamesOfAllBytesSurviveTheRoundTrip) {
    client home = make_client(), other = make_client();
    std::string every;
    for (int byte = 0; byte < 256; ++byte)
        if (byte != '{' && byte != '}')
            every += static_cast<char>(byte);
    for (const std::string& name :
         {every, std::string("a\r\nb"), std::string("\0", 1), std::string("a{b}c"),
          std::string(store().name_bytes_max(), 'x')}) {
        mutex lock{home, name}, same{other, name};
        lock.lock();
        EXPECT_FALSE(same.try_lock());
        lock.unlock();
        EXPECT_TRUE(same.try_lock());
        same.unlock();
    }
}

TEST_P(Contract, NamesDifferByCaseBlankAndAccent) {
    client home = make_client();
    std::vector<lease> all;
    for (const char* name : {"name", "Name", "name ", " name", "n\xc3\xa4me"}) {
        mutex lock{home, name};
        all.push_back(lock.async_lock(asio::use_future).get());
        EXPECT_TRUE(all.back().owns_lock());
    }
    EXPECT_EQ(store().held(), all.size());
}

TEST_P(Contract, ANameThatCannotBeIsRefusedBeforeAnythingIsSent) {
    store().stop_answering();
    client home = make_client();
    for (const std::string& name : {std::string{}, std::string(10 * 1024 * 1024, 'x')})
        EXPECT_THROW((mutex{home, name}), boost::system::system_error);
}

TEST_P(Contract, PrefixesAndMappersNameTheSameLock) {
    client prefixed = make_client({.prefix = "app:"});
    client mapped = make_client(
        {.name_mapper = [](std::string_view name) { return "app:" + std::string{name}; }});
    client plain = make_client();
    mutex a{prefixed, "lock"}, b{mapped, "lock"}, c{plain, "app:lock"};
    lease held = a.async_lock(asio::use_future).get();
    EXPECT_EQ(held.name(), "app:lock");
    EXPECT_FALSE(b.try_lock());
    EXPECT_FALSE(c.try_lock());
}

TEST_P(Contract, ReleasingTwiceReportsTheSecond) {
    client home = make_client();
    mutex lock{home, "lock"};
    lock.lock();
    error_code ec;
    lock.unlock(ec);
    EXPECT_FALSE(ec);
    lock.unlock(ec);
    EXPECT_EQ(ec, errc::not_owner);
}

TEST_P(Contract, WhatIsNoLockIsRefusedAndLeftAlone) {
    client home = make_client();
    mutex lock{home, "lock"};
    if (!store().put_something_else("lock"))
        GTEST_SKIP() << "this store holds nothing but locks";
    try {
        lock.lock();
        FAIL() << "was granted";
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), errc::refused);
        EXPECT_NE(std::string{e.what()}.find("WRONGTYPE"), std::string::npos) << e.what();
    }
    EXPECT_THROW(lock.force_unlock(), boost::system::system_error);
    EXPECT_EQ(store().held(), 1u);
}

TEST_P(Contract, NothingIsLeftBehindByCancelledWaits) {
    client home = make_client();
    store().stranger_takes("lock", 1min);
    {
        mutex lock{home, "lock"};
        for (int i = 0; i < 20; ++i) {
            std::stop_source cancel;
            auto waiting = std::async(std::launch::async, [&] {
                EXPECT_THROW(lock.lock(cancel.get_token()), boost::system::system_error);
            });
            cancel.request_stop();
            support::soon(std::move(waiting));
        }
    }
    store().stranger_releases("lock");
    home.close();
    EXPECT_TRUE(
        support::eventually([&] { return store().listeners() == 0 && store().held() == 0; }));
}

// Several clients that use the same object, on every store: rates that another client changes,
// leases that another client sets, and writers that poll at different intervals.

using support::soon;

rate per_client(std::int64_t permits, duration per) {
    return {.permits = permits, .per = per, .scope = rate::scope_of::per_client, .kept = {}};
}

class RateOfOthers : public suite {};
HOLDFAST_ON_EACH_STORE_THAT_HAS(RateOfOthers, counter_kind::rate);

TEST_P(RateOfOthers, LoweredByAnotherClientCountsEarlierDraws) {
    client home = make_client(), other = make_client();
    rate_limiter mine{home, "mails"}, theirs{other, "mails"};
    theirs.set_rate(per_client(10, 1h));
    mine.acquire(4);
    theirs.set_rate(per_client(6, 1h));
    EXPECT_EQ(mine.available_permits(), 2);
    EXPECT_FALSE(mine.try_acquire(3));
    EXPECT_TRUE(mine.try_acquire(2));
    EXPECT_FALSE(mine.try_acquire());
    theirs.set_rate(per_client(2, 1h));
    EXPECT_EQ(mine.available_permits(), 0);
    EXPECT_FALSE(mine.try_acquire());
}

TEST_P(RateOfOthers, LongerIntervalSetByAnotherClientKeepsEarlierDraws) {
    client other = make_client();
    moving_client home{store(), {}};
    rate_limiter mine{home.get(), "mails"}, theirs{other, "mails"};
    theirs.set_rate(per_client(5, 10s));
    mine.acquire(5);
    theirs.set_rate(per_client(5, 1h));
    home.pass(40s); // twice the interval in which they were drawn is over
    EXPECT_EQ(mine.available_permits(), 0);
    EXPECT_FALSE(mine.try_acquire());
    home.pass(1h);
    EXPECT_TRUE(mine.try_acquire(5));
}

TEST_P(RateOfOthers, ErasedByAnotherClientForgetsDraws) {
    client home = make_client(), other = make_client();
    rate_limiter mine{home, "mails"}, theirs{other, "mails"};
    theirs.set_rate(per_client(2, 1h));
    mine.acquire(2);
    EXPECT_TRUE(theirs.erase());
    EXPECT_TRUE(theirs.try_set_rate(per_client(2, 1h)));
    EXPECT_TRUE(mine.try_acquire(2));
}

TEST_P(RateOfOthers, LimiterIsKeptWhileSomebodyWaits) {
    moving_client home{store(), {}};
    rate_limiter mails{home.get(), "mails"};
    mails.set_rate({.permits = 1, .per = 1h, .kept = 1h});
    mails.acquire();
    const std::size_t before = store().requests();
    auto waiting = mails.async_acquire(1, asio::use_future);
    ASSERT_TRUE(support::eventually([&] { return store().requests() > before; }));
    (void)mails.available_permits(); // its look was answered before that
    home.pass(1h + 10ms);
    EXPECT_NO_THROW(soon(std::move(waiting)));
}

class LeasesOfOthers : public suite {};
HOLDFAST_ON_EACH_STORE_THAT_HAS(LeasesOfOthers, counter_kind::permits);

TEST_P(LeasesOfOthers, SetLeaseMovesTheEndOfAFixedLease) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    moving_client home{store(), {}};
    leased_semaphore seats{home.get(), "seats"};
    seats.set_permits(1);
    const lease held = seats.acquire(lease_time{5s});
    EXPECT_TRUE(seats.set_lease(held.permit_ids().front(), lease_time{60s}));
    EXPECT_TRUE(support::eventually([&] { return held.remaining() > 50s; }));
    home.pass(30s);
    EXPECT_TRUE(held.owns_lock());
    EXPECT_TRUE(seats.set_lease(held.permit_ids().front(), lease_time{3s}));
    EXPECT_TRUE(support::eventually([&] { return held.remaining() <= 3s; }));
    home.pass(3s);
    EXPECT_FALSE(held.owns_lock());
}

TEST_P(LeasesOfOthers, SetLeaseByAnotherClientIsSeenAtTheNextContact) {
    HOLDFAST_NEEDS_LEASES_OF_THEIR_OWN;
    client other = make_client();
    moving_client home{store(), {}};
    leased_semaphore seats{home.get(), "seats"}, theirs{other, "seats"};
    seats.set_permits(2);
    const lease held = seats.acquire(lease_time{30s}, 2);
    const std::vector<std::string> ids = held.permit_ids();
    EXPECT_TRUE(theirs.set_lease(ids[0], lease_time{10min}));
    home.pass(10s + 10ms);
    (void)seats.available_permits();
    EXPECT_LE(held.remaining(), 20s) << "the other permit ends as before";
    EXPECT_TRUE(theirs.set_lease(ids[1], lease_time{5min}));
    home.pass(10s);
    EXPECT_TRUE(support::eventually([&] { return held.remaining() > 4min; }));
    EXPECT_LE(held.remaining(), 5min);
}

class MarksOfOthers : public suite {};
HOLDFAST_ON_EACH_STORE_THAT_HAS(MarksOfOthers, lock_kind::read);

TEST_P(MarksOfOthers, WriterThatLooksOftenKeepsTheMarkOfOneThatLooksSeldom) {
    client home = make_client({.poll_bound = hardly_ever}), other = make_client();
    shared_mutex read{home, "lock"}, reads_too{other, "lock"};
    client seldom = make_client({.poll_bound = hardly_ever});
    shared_mutex waits{seldom, "lock"}, tries{other, "lock"};
    read.lock_shared();
    auto waiting = waits.async_lock(asio::use_future);
    ASSERT_TRUE(support::eventually([&] {
        const bool reads = reads_too.try_lock_shared();
        if (reads)
            reads_too.unlock_shared();
        return !reads;
    }));
    EXPECT_FALSE(tries.try_lock_for(1ms)); // its own mark lasts 50 ms
    store().pass(1s);
    EXPECT_FALSE(reads_too.try_lock_shared());
    read.unlock_shared();
    EXPECT_TRUE(soon(std::move(waiting)).owns_lock());
}

} // namespace
} // namespace holdfast::conformance
