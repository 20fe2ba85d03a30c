// SPDX-License-Identifier: Apache-2.0
// What `client::list()` finds of what is counted, on every store.
#include "conformance/suite.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

namespace holdfast::conformance {
namespace {

class CounterList : public suite {
protected:
    void SetUp() override {
        if (GetParam().label.ends_with("-acl"))
            GTEST_SKIP() << "an operator's rights are tried in tests/redis/acl_server_test.cpp";
        suite::SetUp();
    }
};
HOLDFAST_ON_EACH_STORE_THAT_HAS(CounterList, counter_kind::rate, counter_kind::semaphore,
                                counter_kind::permits);

TEST_P(CounterList, HasThoseOfOneKind) {
    client home = make_client();
    for (const char* const name : {"mails", "calls", "other"})
        rate_limiter{home, name}.set_rate({.permits = 3, .per = 1h});
    counting_semaphore{home, "seats"}.add_permits(2);
    const counter_list all = home.list(counter_kind::rate);
    ASSERT_EQ(all.counters.size(), 3u);
    EXPECT_TRUE(all.complete);
    EXPECT_EQ(all.counters[0].name, "calls");
    EXPECT_EQ(all.counters[0].state.of.per, 1h);
    EXPECT_EQ(home.list(counter_kind::rate, "*ls").counters.size(), 2u);
    EXPECT_FALSE(home.list(counter_kind::rate, "*", 1).complete);
    const counter_list numbers = home.list(counter_kind::semaphore);
    ASSERT_EQ(numbers.counters.size(), 1u);
    EXPECT_EQ(numbers.counters[0].state.value, 2);
    EXPECT_TRUE(home.list(counter_kind::permits).counters.empty());
    leased_semaphore leases{home, "leases"};
    leases.set_permits(2);
    const lease held = leases.acquire();
    const counter_list leased = home.list(counter_kind::permits);
    ASSERT_EQ(leased.counters.size(), 1u);
    EXPECT_EQ(leased.counters[0].state.taken, 1);
}

} // namespace
} // namespace holdfast::conformance
