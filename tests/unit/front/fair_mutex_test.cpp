// SPDX-License-Identifier: Apache-2.0
// What a fair_mutex is made with, and its blocking verbs.
#include "support/wire_hold_of.hpp"
#include "unit/front/real_time.hpp"

#include <holdfast/fair_mutex.hpp>

#include <mutex>
#include <thread>

namespace holdfast {
namespace {

class FairMutex : public in_real_time {
protected:
    static std::string refusal_of(client& home, duration patience) {
        const auto refused = thrown_by([&] {
            const fair_mutex m{home, "desk", {.waiter_patience = patience}};
        });
        EXPECT_EQ(refused.code, errc::invalid_argument) << refused.text;
        return refused.text;
    }
};

TEST_F(FairMutex, IsLockableAsStdSays) {
    fair_mutex desk{alice, "desk"};
    mutex plain{alice, "plain"};
    {
        const std::scoped_lock both{desk, plain};
        EXPECT_TRUE(desk.is_held_by_this_thread());
    }
    const std::unique_lock timed{desk, 1s};
    EXPECT_TRUE(timed.owns_lock());
}

TEST_F(FairMutex, HasTheLeaseOfItsOptions) {
    fair_mutex desk{alice, "desk", {.lease = lease_time{7s}, .deferred = true}};
    const lease held = soon(desk.async_lock(asio::use_future));
    EXPECT_EQ(support::wire_hold_of(held).lease(), 7s);
    EXPECT_TRUE(support::wire_hold_of(held).deferred());
}

TEST_F(FairMutex, IsNotRecursiveUnlessTheOptionsSaySo) {
    fair_mutex desk{alice, "desk"};
    desk.lock();
    EXPECT_EQ(thrown_by([&] { desk.lock(); }).code, errc::already_held);
    fair_mutex counted{alice, "counted", {.again = recursion::counted}};
    counted.lock();
    counted.lock();
    EXPECT_EQ(counted.hold_count(), 2u);
    counted.unlock();
    counted.unlock();
    desk.unlock();
}

TEST_F(FairMutex, ATryAfterADeferredReleaseComesBehindIt) {
    fair_mutex desk{alice, "desk", {.deferred = true}};
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(desk.try_lock()) << i;
        desk.unlock();
    }
}

TEST_F(FairMutex, ThreadsOfOneClientExcludeEachOther) {
    int counter = 0;
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < 8; ++i)
            all.emplace_back([&] {
                fair_mutex desk{alice, "desk"};
                for (int round = 0; round < 20; ++round) {
                    const std::scoped_lock held{desk};
                    ++counter;
                }
            });
    }
    EXPECT_EQ(counter, 160);
}

TEST_F(FairMutex, AWaiterThatSurvivesAnOutageMustNotBeOvertakenForIt) {
    client home{options{.store = server.connect(), .unavailable_patience = 10s, .poll_bound = 5s}};
    EXPECT_THAT(refusal_of(home, 20'999ms),
                HasSubstr("fair_options.waiter_patience is 20999 ms; allowed are 21000 ms to "
                          "3600000 ms"));
    EXPECT_THAT(refusal_of(home, 0s), HasSubstr("2 * command_timeout"));
    EXPECT_THAT(refusal_of(home, 1h + 1ms), HasSubstr("3600001 ms"));
    const fair_mutex least{home, "desk", {.waiter_patience = 21s}};
    const fair_mutex most{home, "desk", {.waiter_patience = 1h}};
}

TEST_F(FairMutex, NoPatienceIsLongEnoughForAnEndlessOutage) {
    client home{options{.store = server.connect(), .unavailable_patience = duration::max()}};
    EXPECT_THAT(refusal_of(home, 1h), HasSubstr("one hour at most"));
}

} // namespace
} // namespace holdfast
