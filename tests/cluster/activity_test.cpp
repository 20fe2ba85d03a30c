// SPDX-License-Identifier: Apache-2.0
// The lists of holds and waits in a cluster, where the index and the clients' keys are in different
// slots.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_cluster.hpp"

#include <holdfast/holdfast.hpp>

#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::redis_cluster;

class ClusterActivity : public support::on_each_topology<redis_cluster> {
protected:
    holdfast::options how() { return {.store = redis::make_store(servers().client_options())}; }
};
HOLDFAST_ON_EACH_SERVER(ClusterActivity);

TEST_P(ClusterActivity, HoldsAndWaitsOfSeveralClientsAreListed) {
    client first{how()}, second{how()}, third{how()}, looker{how()};
    mutex a{first, "A"}, b{second, "B"}, waits{third, "A"};
    a.lock();
    b.lock();
    std::thread waiter{[&] {
        if (waits.try_lock_for(1h))
            waits.unlock();
    }};
    lock_list seen;
    EXPECT_TRUE(eventually([&] {
        seen = looker.list_active();
        return seen.locks.size() == 2 && !seen.locks[0].waiters.empty() &&
               seen.locks[1].owners.at(0).held_for;
    }));
    a.unlock();
    b.unlock();
    waiter.join();
    ASSERT_EQ(seen.locks.size(), 2u);
    EXPECT_EQ(seen.locks[0].name, "A") << "the lock with the oldest wait comes first";
    EXPECT_TRUE(seen.complete);
    EXPECT_TRUE(eventually([&] { return looker.list_active().locks.empty(); }));
}

} // namespace
} // namespace holdfast
