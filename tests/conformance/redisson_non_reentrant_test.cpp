// SPDX-License-Identifier: Apache-2.0
// RedissonNonReentrantLockTest: it is what a `mutex` is.
#include "conformance/suite.hpp"

#include <boost/asio/use_future.hpp>

namespace holdfast::conformance {
namespace {

class RedissonNonReentrantLock : public suite {
protected:
    /// Every verb that would lock it again, by the thread that holds it.
    static void expect_refused(basic_mutex& lock) {
        const auto code_of = [](auto verb) {
            try {
                verb();
            } catch (const boost::system::system_error& why) {
                return why.code();
            }
            return error_code{};
        };
        EXPECT_EQ(code_of([&] { lock.lock(); }), errc::already_held);
        EXPECT_EQ(code_of([&] { (void)lock.try_lock(); }), errc::already_held);
        EXPECT_EQ(code_of([&] { (void)lock.try_lock_for(100ms); }), errc::already_held);
    }
};
HOLDFAST_ON_EACH_STORE_WITH(RedissonNonReentrantLock, lock_kind::spin, lock_kind::fenced,
                            lock_kind::token);

TEST_P(RedissonNonReentrantLock, AContenderWaitsForTheRelease) {
    client home = make_client();
    mutex lock{home, "lock"};
    lock.lock();
    auto contender = std::async(std::launch::async, [&] {
        lock.lock();
        return unlocked(lock);
    });
    EXPECT_EQ(contender.wait_for(300ms), std::future_status::timeout);
    EXPECT_FALSE(unlocked(lock));
    EXPECT_FALSE(support::soon(std::move(contender)));
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(RedissonNonReentrantLock, ItsThreadIsRefusedAndHoldsItStill) {
    client home = make_client();
    mutex lock{home, "lock"};
    lock.lock();
    EXPECT_EQ(requests_during([&] { expect_refused(lock); }), 0u);
    EXPECT_EQ(lock.hold_count(), 1u);
    EXPECT_FALSE(unlocked(lock));
    EXPECT_FALSE(lock.is_locked());
}

TEST_P(RedissonNonReentrantLock, ItsThreadIsRefusedByAnotherObjectToo) {
    client home = make_client();
    mutex lock{home, "lock"}, same{home, "lock"};
    lock.lock();
    expect_refused(same);
    EXPECT_EQ(same.hold_count(), 1u);
    EXPECT_FALSE(unlocked(lock));
    EXPECT_FALSE(same.is_locked());
}

} // namespace
} // namespace holdfast::conformance
