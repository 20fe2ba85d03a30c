// SPDX-License-Identifier: Apache-2.0
// Asking for a lock, and giving up: what an attempt leaves behind, whatever becomes of its answer.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

#include <mutex>

namespace holdfast::conformance {
namespace {

class Looking : public suite {
protected:
    /// On a way where answers get lost; it has used it before, so that only the next request
    /// counts.
    client make_badly_reached(options how = {}) {
        how.poll_bound = 25ms;
        store().reach_badly(how);
        client home{std::move(how)};
        mutex lock{home, "lock"};
        lock.lock();
        lock.unlock();
        return home;
    }
    bool nothing_left() {
        return support::eventually([&] { return store().held() == 0 && store().listeners() == 0; });
    }
};
HOLDFAST_ON_EACH_STORE_WITH(Looking, lock_kind::spin, lock_kind::fenced, lock_kind::token);

TEST_P(Looking, TryingWithoutPatienceLeavesNoPlace) {
    client home = make_client();
    mutex lock{home, "lock"};
    store().stranger_takes("lock", 30s);
    EXPECT_FALSE(lock.try_lock()); // a store may ask twice where it guessed that it was free
    const std::size_t sent = requests_during([&] { EXPECT_FALSE(lock.try_lock()); });
    EXPECT_EQ(sent, store().counts_requests() ? 1u : 0u);
    EXPECT_EQ(store().listeners(), 0u);
    store().evict("lock");
    EXPECT_TRUE(nothing_left());
}

TEST_P(Looking, ALostAnswerIsFoundByLookingAgain) {
    client home = make_badly_reached();
    mutex lock{home, "lock"};
    store().lose_answer_about("lock");
    lock.lock();
    EXPECT_EQ(store().held(), 1u);
    error_code ec;
    lock.unlock(ec);
    EXPECT_FALSE(ec);
    EXPECT_EQ(store().held(), 0u) << "looking twice granted twice";
}

TEST_P(Looking, LeavingAfterALostAnswerLeavesNothing) {
    client home = make_badly_reached();
    mutex lock{home, "lock"};
    store().lose_answer_about("lock");
    try {
        EXPECT_FALSE(lock.try_lock()) << "its answer was lost, so it cannot have been granted";
        FAIL() << "nobody knows whether it is busy";
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), errc::outcome_unknown);
    }
    EXPECT_TRUE(nothing_left());
    EXPECT_TRUE(lock.try_lock_for(support::far_too_long));
    lock.unlock();
}

TEST_P(Looking, ALostAnswerToAReleaseIsNoTrouble) {
    client home = make_badly_reached(), other = make_client();
    mutex lock{home, "lock"}, watched{other, "lock"};
    lock.lock();
    store().lose_answer_about("lock");
    error_code ec;
    lock.unlock(ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_TRUE(watched.try_lock());
    watched.unlock();
}

TEST_P(Looking, AnAbandonedPlaceDelaysNobody) {
    client home = make_client({.poll_bound = 10min});
    mutex lock{home, "lock"};
    store().stranger_takes("lock", 30s);
    std::optional<client> gone = make_client({.close_patience = 0ms, .poll_bound = 10min});
    std::future<lease> first = mutex{*gone, "lock"}.async_lock(asio::use_future);
    ASSERT_TRUE(somebody_waits());
    std::future<lease> second = lock.async_lock(asio::use_future);
    gone.reset();
    EXPECT_THROW(support::soon(std::move(first)), boost::system::system_error);
    ASSERT_TRUE(somebody_waits());
    store().stranger_releases("lock");
    EXPECT_TRUE(support::soon(std::move(second)).owns_lock());
}

TEST_P(Looking, NothingIsGrantedAfterGivingUp) {
    moving_client home{store(), {.unavailable_patience = 1s}};
    client other = make_client();
    mutex lock{home.get(), "lock"}, watched{other, "lock"};
    lock.lock(); // so that it knows the server and its clock
    lock.unlock();
    store().freeze();
    std::future<std::optional<lease>> tried =
        lock.async_try_lock_for(1s, lease_time{1min}, asio::use_future);
    // Until it has given up, and beyond every deadline that its requests were sent with.
    EXPECT_TRUE(support::eventually([&] {
        home.pass(1s);
        return support::is_ready(tried);
    }));
    store().thaw();
    try {
        EXPECT_FALSE(tried.get());
    } catch (const boost::system::system_error& e) {
        EXPECT_TRUE(e.code() == errc::outcome_unknown || e.code() == errc::unreachable);
    }
    EXPECT_TRUE(watched.try_lock_for(support::far_too_long));
    watched.unlock();
    EXPECT_TRUE(nothing_left());
}

TEST_P(Looking, ATryCancelledWhileItsAnswerIsAwaitedIsNotRenewed) {
    moving_client home{store(), {}};
    mutex lock{home.get(), "lock"};
    lock.lock();
    lock.unlock();
    std::stop_source cancel;
    store().freeze();
    auto waiting = std::async(std::launch::async, [&] {
        EXPECT_THROW((void)lock.try_lock_for(1min, cancel.get_token()),
                     boost::system::system_error);
    });
    cancel.request_stop();
    support::soon(std::move(waiting));
    store().thaw();
    for (int i = 0; i < 5; ++i) // 45 s and more, in steps that a renewal would survive
        home.pass(9s);
    EXPECT_TRUE(nothing_left());
}

TEST_P(Looking, ATimedTryOnADeadServerFailsWhenItsPatienceEnds) {
    client home = make_client();
    mutex lock{home, "lock"};
    store().stop_answering();
    try {
        EXPECT_FALSE(lock.try_lock_for(200ms));
        FAIL() << "nobody knows whether it is busy";
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), errc::unreachable);
    }
}

} // namespace
} // namespace holdfast::conformance
