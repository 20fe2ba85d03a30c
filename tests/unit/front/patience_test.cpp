// SPDX-License-Identifier: Apache-2.0
// A call that waits does not return before its time is over: the machine's clock is rounded down.
#include "unit/front/real_time.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/multi_mutex.hpp>
#include <holdfast/rate_limiter.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace holdfast {
namespace {

using steady = std::chrono::steady_clock;

struct timed_verb {
    std::string name;
    std::function<bool(client&, std::chrono::microseconds)> wait;
};

class Patience : public testing::TestWithParam<timed_verb> {
protected:
    memory::server server;
    client home{options{.store = server.connect()}};
};

TEST_P(Patience, IsNeverOverTooEarly) {
    server.occupy("stock", 1h);
    (void)latch{home, "gate"}.try_set_count(1);
    rate_limiter rate{home, "rate"};
    (void)rate.try_set_rate({.permits = 1, .per = 1h});
    rate.acquire();
    for (const std::chrono::microseconds timeout : {1us, 900us, 1'000us, 1'500us, 3'000us})
        for (int i = 0; i < 20; ++i) {
            const steady::time_point began = steady::now();
            EXPECT_FALSE(GetParam().wait(home, timeout));
            EXPECT_GE(steady::now() - began, timeout);
        }
}

INSTANTIATE_TEST_SUITE_P(
    Each, Patience,
    testing::Values(
        timed_verb{"TryLockFor",
                   [](client& c, auto p) {
                       return mutex{c, "stock"}.try_lock_for(p);
                   }},
        timed_verb{"TryLockUntil",
                   [](client& c, auto p) {
                       return mutex{c, "stock"}.try_lock_until(steady::now() + p);
                   }},
        timed_verb{"AsyncTryLockFor",
                   [](client& c, auto p) {
                       mutex lock{c, "stock"};
                       return lock.async_try_lock_for(p, asio::use_future).get().has_value();
                   }},
        timed_verb{"TryAcquireFor",
                   [](client& c, auto p) {
                       return counting_semaphore{c, "none"}.try_acquire_for(p);
                   }},
        timed_verb{"RateTryAcquireFor",
                   [](client& c, auto p) {
                       return rate_limiter{c, "rate"}.try_acquire_for(p);
                   }},
        timed_verb{"LatchWaitFor",
                   [](client& c, auto p) {
                       return latch{c, "gate"}.wait_for(p);
                   }},
        timed_verb{"MultiTryLockFor",
                   [](client& c, auto p) {
                       mutex a{c, "stock"}, b{c, "free"};
                       multi_mutex both{a, b};
                       return both.try_lock_for(p);
                   }},
        timed_verb{"WaitFree", [](client& c, auto p) { return c.wait_free("stock", p); }}),
    [](const auto& which) { return which.param.name; });

} // namespace
} // namespace holdfast
