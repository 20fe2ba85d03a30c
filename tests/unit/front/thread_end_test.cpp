// SPDX-License-Identifier: Apache-2.0
// A thread that ends while it has a shared hold, beside threads of the same client that go on.
#include "unit/front/real_time.hpp"

#include <holdfast/multi_mutex.hpp>
#include <holdfast/shared_mutex.hpp>

#include <latch>
#include <shared_mutex>
#include <thread>

namespace holdfast {
namespace {

class ThreadEndsWithSharedHold : public in_real_time {
protected:
    // Long enough that a second reader always shares the hold of the first one.
    client home{options{.store = server.connect(sent.as_faults()),
                        .lease_time = 500ms,
                        .close_timeout = 0ms,
                        .poll_bound = 20ms,
                        .hand_off = {.within = 1h},
                        .observer = ear}};
    shared_mutex stock{home, "stock"};

    std::size_t count_wire_holds() const { return inspect(server, "stock")->owners.size(); }
};

TEST_F(ThreadEndsWithSharedHold, UpgradeOfAnotherThreadIsGranted) {
    stock.lock_shared();
    std::thread{[&] { stock.lock_shared(); }}.join();
    ASSERT_TRUE(stock.try_upgrade_for(support::far_too_long));
    stock.unlock();
    stock.unlock_shared();
}

TEST_F(ThreadEndsWithSharedHold, UpgradeThatWaitsForItIsGranted) {
    stock.lock_shared();
    std::latch shared{1}, may_end{1};
    std::thread ends{[&] {
        stock.lock_shared();
        shared.count_down();
        may_end.wait();
    }};
    shared.wait();
    EXPECT_FALSE(stock.try_upgrade_for(0ms)) << "the other thread still reads";
    may_end.count_down();
    ends.join();
    EXPECT_TRUE(stock.try_upgrade_for(support::far_too_long));
    stock.unlock();
    stock.unlock_shared();
}

TEST_F(ThreadEndsWithSharedHold, UpgradeIsGrantedWhenAWireHoldOfItsOwnHasExpired) {
    client alone{options{.store = server.connect(),
                         .lease_time = 200ms,
                         .close_timeout = 0ms,
                         .poll_bound = 20ms,
                         .hand_off = {.within = 0ms}}};
    shared_mutex shelf{alone, "shelf"};
    shelf.lock_shared();
    std::thread{[&] { shelf.lock_shared(); }}.join();
    EXPECT_TRUE(shelf.try_upgrade_for(support::far_too_long));
    shelf.unlock();
    shelf.unlock_shared();
}

/// Locks `what` by an object that is destroyed after the library has noticed the end of the thread.
template <typename Lock, typename Mutex>
void lock_until_even_later(Mutex& what, std::latch& locked, std::latch& may_end) {
    thread_local Lock held; // made before the thread holds anything, so it is destroyed last
    held = Lock{what};
    locked.count_down();
    may_end.wait();
}

TEST_F(ThreadEndsWithSharedHold, ThreadLocalLockLeavesTheHoldOfALivingThreadAlone) {
    std::latch locked{1}, may_end{1};
    std::thread ends{
        [&] { lock_until_even_later<std::shared_lock<shared_mutex>>(stock, locked, may_end); }};
    locked.wait();
    stock.lock_shared();
    ASSERT_EQ(count_wire_holds(), 1u) << "both threads shall share one hold";
    may_end.count_down();
    ends.join();
    const auto renewals = [this] { return sent.count(verb::renew); };
    const std::size_t before = renewals();
    EXPECT_TRUE(eventually([&] { return renewals() > before + 2; }))
        << "it is not renewed any more";
    EXPECT_TRUE(stock.shared().is_held_by_this_thread());
    EXPECT_EQ(ear->count(event_kind::abandoned), 0u);
    stock.unlock_shared();
    EXPECT_TRUE(is_free("stock"));
}

TEST_F(ThreadEndsWithSharedHold, ThreadLocalLockOfSeveralLeavesTheHoldOfALivingThreadAlone) {
    mutex shelf{home, "shelf"};
    multi_mutex both{stock.shared(), shelf};
    std::latch locked{1}, may_end{1};
    std::thread ends{
        [&] { lock_until_even_later<std::unique_lock<multi_mutex>>(both, locked, may_end); }};
    locked.wait();
    stock.lock_shared();
    may_end.count_down();
    ends.join();
    EXPECT_TRUE(eventually([&] { return is_free("shelf"); }));
    const std::size_t before = sent.count(verb::renew);
    EXPECT_TRUE(eventually([&] { return sent.count(verb::renew) > before + 2; }));
    EXPECT_TRUE(stock.shared().is_held_by_this_thread());
    stock.unlock_shared();
    EXPECT_TRUE(eventually([&] { return is_free("stock"); }));
}

} // namespace
} // namespace holdfast
