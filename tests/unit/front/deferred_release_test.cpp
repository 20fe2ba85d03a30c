// SPDX-License-Identifier: Apache-2.0
// What a thread asks behind an unlock() that did not wait comes behind it, on whichever way.
#include "unit/front/real_time.hpp"

namespace holdfast {
namespace {

class DeferredRelease : public in_real_time {
protected:
    mutex stock{alice, "stock", deferred_release};
};

TEST_F(DeferredRelease, ComesBeforeTheNextTryOfTheSameThread) {
    sent.set({.request_delay = 2ms, .answer_delay = 2ms});
    stock.lock();
    for (int i = 0; i < 50; ++i) {
        stock.unlock();
        ASSERT_TRUE(stock.try_lock()) << "round " << i;
    }
    stock.unlock();
}

TEST_F(DeferredRelease, ComesBeforeATryThroughAnotherObject) {
    sent.set({.request_delay = 2ms});
    mutex again{alice, "stock"};
    stock.lock();
    stock.unlock();
    ASSERT_TRUE(again.try_lock_for(1ms));
    again.unlock();
}

TEST_F(DeferredRelease, ComesBeforeAnAsynchronousTry) {
    sent.set({.request_delay = 2ms});
    stock.lock();
    stock.unlock();
    const std::optional<lease> held = soon(stock.async_try_lock(asio::use_future));
    EXPECT_TRUE(held && held->owns_lock());
}

TEST_F(DeferredRelease, IsNotWaitedForByATryBehindAWaiter) {
    sent.set({.request_delay = 20ms});
    stock.lock();
    stock.unlock();
    std::future<lease> waits = stock.async_lock(asio::use_future);
    EXPECT_FALSE(soon(stock.async_try_lock(asio::use_future)));
    EXPECT_TRUE(soon(std::move(waits)).owns_lock());
}

TEST_F(DeferredRelease, ThatFailsLetsTheTryAskForItself) {
    stock.lock();
    sent.set({.request_delay = 20ms, .refused = true});
    stock.unlock();
    EXPECT_EQ(thrown_by([&] { (void)stock.try_lock(); }).code, errc::unreachable);
}

TEST_F(DeferredRelease, OfOneThreadIsNoReasonToWaitForARival) {
    stock.lock();
    stock.unlock();
    EXPECT_TRUE(eventually([&] { return is_free("stock"); }));
    server.occupy("stock", 1h);
    EXPECT_FALSE(stock.try_lock());
}

} // namespace
} // namespace holdfast
