// SPDX-License-Identifier: Apache-2.0
// Calls at a latch beside another thread of the same client that waits for it.
#include "unit/front/real_time.hpp"

#include <holdfast/latch.hpp>

#include <thread>

namespace holdfast {
namespace {

class LatchBesideAWaiter : public in_real_time {
protected:
    latch gate{alice, "gate"};
    std::thread waiter;

    /// A waiter that hears nothing of the opening, so that only its own poll could tell it.
    void begin_to_wait() {
        fate never_woken;
        never_woken.wake_up_lost = true;
        sent.set(never_woken);
        ASSERT_TRUE(gate.try_set_count(1));
        waiter = std::thread{[this] { gate.wait(); }};
        ASSERT_TRUE(
            eventually([this] { return counter(server, "gate") && sent.count(verb::count) > 1; }));
    }
    ~LatchBesideAWaiter() override {
        if (waiter.joinable())
            waiter.join();
    }
};

TEST_F(LatchBesideAWaiter, TryWaitSeesTheLatchThatThisThreadOpened) {
    begin_to_wait();
    EXPECT_FALSE(gate.try_wait());
    gate.count_down();
    EXPECT_TRUE(gate.try_wait());
}

TEST_F(LatchBesideAWaiter, WaitForSeesTheLatchThatThisThreadOpened) {
    begin_to_wait();
    EXPECT_FALSE(gate.wait_for(1ms));
    gate.count_down();
    EXPECT_TRUE(gate.wait_for(1ms));
}

} // namespace
} // namespace holdfast
