// SPDX-License-Identifier: Apache-2.0
// What the doctor finds behind Sentinels.
#include "support/diagnosed.hpp"
#include "support/eventually.hpp"
#include "support/on_each_topology.hpp"
#include "support/redis_sentinels.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::diagnosed;
using support::redis_sentinels;
using support::redis_server;
using support::said_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SentinelDoctor : public support::on_each_topology<redis_sentinels> {
protected:
    diagnosis examined(unsigned replicas = 0, duration lease = 30s) {
        return diagnosed(servers().client_options(), replicas, lease);
    }
    std::string address_of(const redis_server& one) {
        return "127.0.0.1:" + std::to_string(servers().port_of(one));
    }
};
HOLDFAST_ON_EACH_SERVER(SentinelDoctor);

TEST_P(SentinelDoctor, SaysWhatIsThere) {
    const diagnosis found = examined();
    EXPECT_THAT(said_of("topology", found),
                AllOf(HasSubstr("fine: the Sentinels of 'locks' name " +
                                address_of(servers().primary()) + " (replicas: "),
                      HasSubstr(address_of(servers().replica(0))),
                      HasSubstr(address_of(servers().replica(1))), Not(HasSubstr("warning"))));
    EXPECT_THAT(said_of("failover", found), HasSubstr("fine: a failover takes about 1.7 s "
                                                      "(down-after-milliseconds is 200 ms)"));
    EXPECT_THAT(said_of("replicas", found), HasSubstr("note: there are replicas, and none"));
    EXPECT_THAT(said_of("persistence", found), HasSubstr("empties its replicas (all 3 servers)"));
    EXPECT_THAT(said_of("clocks", found), HasSubstr("fine: "));
    EXPECT_THAT(said_of("rights", found), HasSubstr("fine: a lock was taken, renewed and released"));
    EXPECT_EQ(found.worst(), severity::warning);
}

TEST_P(SentinelDoctor, FindsAFailoverThatTakesLongerThanALease) {
    EXPECT_THAT(said_of("failover", examined(0, 300ms)),
                HasSubstr("danger: every hold ends in a failover: down-after-milliseconds is 200 "
                          "ms, and a hold of 300 ms outlasts 195 ms"));
}

TEST_P(SentinelDoctor, MissesASentinel) {
    servers().sentinel(1).stop();
    EXPECT_THAT(said_of("topology", examined()),
                HasSubstr("warning: the Sentinel " + address_of(servers().sentinel(1)) +
                          " does not say where the primary is: "));
}

TEST_P(SentinelDoctor, CountsTheReplicasThatAreRequired) {
    EXPECT_THAT(said_of("replicas", examined(1)),
                HasSubstr("warning: more replicas are online (2) than are required (1)"));
    EXPECT_THAT(said_of("replicas", examined(2)),
                AllOf(HasSubstr("note: "), Not(HasSubstr("warning")), Not(HasSubstr("danger"))));
    EXPECT_THAT(said_of("replicas", examined(3)), HasSubstr("danger: "));
}

} // namespace
} // namespace holdfast
