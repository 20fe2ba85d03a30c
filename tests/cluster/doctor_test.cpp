// SPDX-License-Identifier: Apache-2.0
// What the doctor finds in a cluster.
#include "support/diagnosed.hpp"
#include "support/eventually.hpp"
#include "support/on_each_topology.hpp"
#include "support/redis_cluster.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::diagnosed;
using support::eventually;
using support::redis_cluster;
using support::redis_server;
using support::said_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ClusterDoctor : public support::on_each_topology<redis_cluster> {
protected:
    void TearDown() override {
        for (std::size_t i = 0; !IsSkipped() && i < servers().size(); ++i)
            if (servers().node(i).is_up())
                servers().node(i).command({"ACL", "SETUSER", "default", "+@all"});
    }

    diagnosis examined(unsigned replicas = 0, duration lease = 30s) {
        return diagnosed(servers().client_options(), replicas, lease);
    }
    std::string address_of(const redis_server& one) {
        return "127.0.0.1:" + std::to_string(servers().port_of(one));
    }
    void deny(const std::string& right) {
        for (std::size_t i = 0; i < servers().size(); ++i)
            servers().node(i).command({"ACL", "SETUSER", "default", "-" + right});
    }
    redis_server& first_primary() { return servers().primary_of(0); }
};
HOLDFAST_ON_EACH_SERVER(ClusterDoctor);

TEST_P(ClusterDoctor, SaysWhatIsThere) {
    diagnosis found;
    EXPECT_TRUE(eventually([&] { // nodes tell of a replica when they have heard what it has
        found = examined();
        return said_of("topology", found).find("has no replica") == std::string::npos;
    }));
    EXPECT_THAT(said_of("topology", found),
                AllOf(HasSubstr("fine: a cluster of 3 primaries: "),
                      HasSubstr(address_of(first_primary()) + " (replicas: "),
                      Not(HasSubstr("warning"))));
    EXPECT_THAT(said_of("failover", found), HasSubstr("fine: a failover takes about 1.8 s "
                                                      "(cluster-node-timeout is 500 ms)"));
    EXPECT_THAT(said_of("replicas", found), HasSubstr("note: there are replicas, and none"));
    EXPECT_THAT(said_of("persistence", found),
                AllOf(HasSubstr("warning: "), HasSubstr("empties its replicas (all 6 servers)")));
    EXPECT_THAT(said_of("clocks", found), HasSubstr("fine: "));
    EXPECT_THAT(said_of("listening", found),
                AllOf(HasSubstr("releases will be heard"), HasSubstr("(SPUBLISH)"),
                      Not(HasSubstr("warning"))));
    EXPECT_THAT(said_of("rights", found), HasSubstr("fine: a lock was taken, renewed and released"));
    EXPECT_EQ(found.worst(), severity::warning);
}

TEST_P(ClusterDoctor, FindsAFailoverThatTakesLongerThanALease) {
    EXPECT_THAT(said_of("failover", examined(0, 700ms)),
                HasSubstr("danger: every hold ends in a failover: cluster-node-timeout is 500 ms, "
                          "and a hold of 700 ms outlasts 455 ms"));
}

TEST_P(ClusterDoctor, FindsAnOpenSlot) {
    servers().begin_move(93, servers().other_primary(servers().primary_of(93)));
    EXPECT_THAT(said_of("topology", examined()),
                AllOf(HasSubstr("danger: slots are open at " +
                                address_of(servers().primary_of(93)) + ": 1, the first is 93"),
                      HasSubstr("TRYAGAIN")));
    servers().call_off_moves();
    EXPECT_THAT(said_of("topology", examined()), Not(HasSubstr("danger")));
}

TEST_P(ClusterDoctor, CountsTheReplicasThatAreRequired) {
    EXPECT_THAT(said_of("replicas", examined(1)),
                AllOf(HasSubstr("note: "), HasSubstr(" has 1 of 1 required replicas online: if one is"),
                      Not(HasSubstr("warning")), Not(HasSubstr("danger"))));
    EXPECT_THAT(said_of("replicas", examined(2)),
                AllOf(HasSubstr("danger: "), HasSubstr(" 1 of 2 required replicas online: no lock is"),
                      HasSubstr("danger: a lock is not granted: 1 of 2 replicas")));
    redis_server& primary = first_primary();
    servers().replica_of(primary).stop();
    EXPECT_TRUE(eventually([&] {
        return said_of("replicas", examined(1))
                   .find("danger: " + address_of(primary) + " has 0 of 1 required") !=
               std::string::npos;
    }));
}

TEST_P(ClusterDoctor, FindsThatReplicasMayMigrate) {
    const auto allow = [&](const char* whether) {
        first_primary().command({"CONFIG", "SET", "cluster-allow-replica-migration", whether});
    };
    allow("yes");
    EXPECT_THAT(said_of("replicas", examined(1)), HasSubstr("warning: replicas may migrate"));
    EXPECT_THAT(said_of("replicas", examined(0)), Not(HasSubstr("warning")));
    allow("no");
}

TEST_P(ClusterDoctor, FindsWhoListensInAnotherForm) {
    support::redis_connection old_jvm{first_primary().socket_path()};
    old_jvm.command({"SUBSCRIBE", "redisson_lock__channel:{elsewhere}"});
    EXPECT_THAT(said_of("listening", examined()),
                AllOf(HasSubstr("warning: somebody listens for plain messages at " +
                                address_of(first_primary())),
                      HasSubstr("pubsub=both")));
    redis::options both = servers().client_options();
    both.pubsub = redis::pubsub_form::both;
    EXPECT_THAT(said_of("listening", diagnosed(both)), Not(HasSubstr("warning")));
}

TEST_P(ClusterDoctor, SaysWhatItWasNotAllowedToAsk) {
    deny("config|get");
    deny("cluster|nodes");
    deny("pubsub|channels");
    const diagnosis found = examined();
    EXPECT_THAT(said_of("failover", found), HasSubstr("note: CONFIG GET cluster-node-timeout"));
    EXPECT_THAT(said_of("topology", found), HasSubstr("note: CLUSTER NODES is denied at "));
    EXPECT_THAT(said_of("listening", found), HasSubstr("note: PUBSUB is denied at "));
}

TEST_P(ClusterDoctor, FindsThatReplicasCannotBeRequired) {
    deny("wait");
    EXPECT_THAT(said_of("replicas", examined()), HasSubstr("note: WAIT is refused at "));
    EXPECT_THAT(said_of("replicas", examined(1)),
                AllOf(HasSubstr("danger: WAIT is refused at "), HasSubstr("Grant +wait")));
}

TEST_P(ClusterDoctor, TellsTheUrlToWhomItWasGivenAsOneServer) {
    redis_server& node = first_primary();
    redis::options one = servers().client_options();
    one.cluster.reset();
    one.host = "127.0.0.1";
    one.port = servers().port_of(node);
    std::string name = "here";
    while (&servers().node_of(name) != &node)
        name += '.';
    EXPECT_THAT(said_of("reach", diagnosed(one, 0, 30s, name)),
                AllOf(HasSubstr("danger: it is a node of a cluster"),
                      HasSubstr("redis+cluster://" + address_of(node))));
}

} // namespace
} // namespace holdfast
