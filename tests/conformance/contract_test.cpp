// SPDX-License-Identifier: Apache-2.0
// What every store owes: names, waking, foreign holders, nothing left behind.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

#include <mutex>

namespace holdfast::conformance {
namespace {

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

} // namespace
} // namespace holdfast::conformance
