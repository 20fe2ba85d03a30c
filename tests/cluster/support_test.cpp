// SPDX-License-Identifier: Apache-2.0
// Checks that the test cluster has the properties that other tests rely on.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_cluster.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using support::eventually;
using support::redis_cluster;
using support::redis_server;
using testing::StartsWith;
using election = redis_cluster::election;

std::string value_at(redis_server& at, const std::string& key = "k") {
    return at.command({"GET", key}).text;
}
std::string put(redis_server& at, const std::string& value) {
    return at.command({"SET", "k", value}).text;
}
std::int64_t confirmed(redis_server& at, const std::string& timeout = "5000") {
    return at.command({"WAIT", "1", timeout}).integer;
}

class ClusterOfTests : public support::on_each_topology<redis_cluster> {
protected:
    ClusterOfTests()
        : on_each_topology{{.own_clocks = true, .can_be_cut = true}} {}
};
HOLDFAST_ON_EACH_SERVER(ClusterOfTests);

TEST_P(ClusterOfTests, SharesTheSlotsAndReplicates) {
    redis_cluster& cluster = servers();
    ASSERT_EQ(cluster.size(), 6U);
    EXPECT_EQ(cluster.slot_of("k"), 7629);
    redis_server& owner = cluster.node_of("k");
    EXPECT_EQ(&owner, &cluster.primary_of(7629));
    EXPECT_EQ(put(owner, "a"), "OK");
    EXPECT_EQ(confirmed(owner), 1);
    EXPECT_EQ(cluster.replica_of(owner).command({"DBSIZE"}).integer, 1);
    EXPECT_THAT(put(cluster.other_primary(owner), "b"),
                StartsWith("MOVED 7629 127.0.0.1:" + std::to_string(cluster.port_of(owner))));
    cluster.clear();
    EXPECT_EQ(value_at(owner), "");
}

TEST_P(ClusterOfTests, ElectsAReplicaInEachWay) {
    redis_cluster& cluster = servers();
    const int slot = cluster.slot_of("k");
    for (const election how : {election::agreed, election::forced, election::none}) {
        redis_server& old = cluster.primary_of(slot);
        EXPECT_EQ(put(old, "a"), "OK");
        EXPECT_EQ(confirmed(old), 1);
        redis_server& next = cluster.replica_of(old);
        cluster.failover(next, how);
        EXPECT_EQ(&cluster.primary_of(slot), &next);
        cluster.wait_until_agreed();
        EXPECT_EQ(value_at(next), "a");
        EXPECT_EQ(&cluster.replica_of(next), &old);
    }
}

TEST_P(ClusterOfTests, ElectsAnotherForOneThatWasKilledOrStopped) {
    redis_cluster& cluster = servers();
    const int slot = cluster.slot_of("k");
    redis_server &first = cluster.primary_of(slot), &second = cluster.replica_of(first);
    first.stop();
    EXPECT_EQ(&cluster.primary_of(slot), &second);
    first.start();
    cluster.wait_until_agreed();
    EXPECT_EQ(&cluster.replica_of(second), &first);
    second.pause();
    EXPECT_EQ(&cluster.primary_of(slot), &first);
    second.resume();
    cluster.wait_until_agreed();
    EXPECT_EQ(&cluster.replica_of(first), &second);
}

TEST_P(ClusterOfTests, MovesASlotInSteps) {
    redis_cluster& cluster = servers();
    const int slot = cluster.slot_of("k");
    redis_server &from = cluster.primary_of(slot), &to = cluster.other_primary(from);
    EXPECT_EQ(put(from, "a"), "OK");

    cluster.begin_move(slot, to);
    EXPECT_EQ(value_at(from), "a");
    EXPECT_THAT(value_at(from, "{k}absent"), StartsWith("ASK " + std::to_string(slot)));
    cluster.call_off_moves();
    EXPECT_EQ(value_at(from, "{k}absent"), "");

    cluster.begin_move(slot, to);
    cluster.move_keys(slot, to);
    EXPECT_THAT(value_at(from), StartsWith("ASK"));
    EXPECT_EQ(&cluster.primary_of(slot), &from);
    cluster.end_move(slot, to);
    EXPECT_EQ(&cluster.primary_of(slot), &to);
    EXPECT_EQ(value_at(to), "a");
    EXPECT_THAT(value_at(from), StartsWith("MOVED"));
}

TEST_P(ClusterOfTests, LosesWhatIsWrittenToAnIsolatedPrimary) {
    redis_cluster& cluster = servers();
    const int slot = cluster.slot_of("k");
    redis_server &old = cluster.primary_of(slot), &next = cluster.replica_of(old);
    EXPECT_EQ(put(old, "before"), "OK");
    EXPECT_EQ(confirmed(old), 1);

    cluster.cut(old);
    EXPECT_EQ(put(old, "after"), "OK");
    EXPECT_EQ(confirmed(old, "100"), 0);
    EXPECT_TRUE(eventually([&] { return &cluster.primary_of(slot) == &next; }));
    EXPECT_TRUE(eventually([&] { return !value_at(next).starts_with("CLUSTERDOWN"); }));
    EXPECT_EQ(value_at(next), "before");
    EXPECT_TRUE(eventually([&] { return put(old, "late").starts_with("CLUSTERDOWN"); }));

    cluster.heal();
    cluster.wait_until_agreed();
    EXPECT_EQ(&cluster.replica_of(next), &old);
    EXPECT_THAT(value_at(old), StartsWith("MOVED"));
}

TEST_P(ClusterOfTests, LetsAnIsolatedPrimaryKeepItsReplica) {
    redis_cluster& cluster = servers();
    redis_server &old = cluster.node_of("k"), &replica = cluster.replica_of(old);
    cluster.cut({&old, &replica});
    EXPECT_EQ(put(old, "a"), "OK");
    EXPECT_EQ(confirmed(old), 1);
    EXPECT_TRUE(eventually([&] { return put(old, "late").starts_with("CLUSTERDOWN"); }));
}

TEST_P(ClusterOfTests, IsRestored) {
    redis_cluster& cluster = servers();
    const int slot = cluster.slot_of("k");
    redis_server &first = cluster.primary_of(slot), &other = cluster.other_primary(first);
    EXPECT_EQ(put(first, "a"), "OK");
    cluster.begin_move(slot, other);
    other.step_clock(std::chrono::minutes{1});
    first.stop();
    cluster.primary_of(slot).pause();
    cluster.cut(other);
    cluster.restore();
    redis_server& now = cluster.primary_of(slot);
    EXPECT_EQ(value_at(now), "");
    EXPECT_EQ(value_at(now, "{k}absent"), "");
    EXPECT_EQ(put(now, "a"), "OK");
    EXPECT_EQ(confirmed(now), 1);
}

class NewerClusterOfTests : public support::on_each_topology<redis_cluster> {
protected:
    NewerClusterOfTests()
        : on_each_topology{{.can_be_cut = true}} {}
};
HOLDFAST_ON_NEWER_SERVERS(NewerClusterOfTests);

TEST_P(NewerClusterOfTests, MovesSlotsElectsAndCanBeCut) {
    redis_cluster& cluster = servers();
    const int slot = cluster.slot_of("k");
    redis_server &from = cluster.primary_of(slot), &to = cluster.other_primary(from);
    EXPECT_EQ(put(from, "a"), "OK");
    cluster.begin_move(slot, to);
    EXPECT_THAT(value_at(from, "{k}absent"), StartsWith("ASK " + std::to_string(slot)));
    cluster.move_keys(slot, to);
    cluster.end_move(slot, to);
    EXPECT_EQ(value_at(to), "a");

    redis_server& next = cluster.replica_of(to);
    cluster.failover(next);
    cluster.wait_until_agreed();
    EXPECT_EQ(value_at(next), "a");
    cluster.cut(next);
    EXPECT_EQ(put(next, "b"), "OK");
    EXPECT_EQ(confirmed(next, "100"), 0);
    EXPECT_TRUE(eventually([&] { return &cluster.primary_of(slot) == &to; }));
}

/// With all that can be wanted.
class ClusterWithOptions : public support::on_each_topology<redis_cluster> {
protected:
    ClusterWithOptions()
        : on_each_topology{{.primaries = 2,
                            .node_timeout = std::chrono::seconds{5},
                            .slots = {{{0, 7628}, {7630, 16'383}}, {{7629, 7629}}},
                            .tls = true,
                            .keep_data = true,
                            .password = "secret"}} {}
};
HOLDFAST_ON_EACH_SERVER(ClusterWithOptions);

TEST_P(ClusterWithOptions, HasTheSlotsThatAreWantedAndMovesThem) {
    redis_cluster& cluster = servers();
    redis_server &from = cluster.node_of("k"), &to = cluster.node_of("another");
    EXPECT_EQ(&from, &cluster.node(1));
    EXPECT_EQ(&to, &cluster.node(0));
    EXPECT_EQ(put(from, "a"), "OK");
    cluster.move(cluster.slot_of("k"), to);
    EXPECT_EQ(value_at(to), "a");
    cluster.move(cluster.slot_of("k"), from);
    EXPECT_EQ(value_at(from), "a");
}

TEST_P(ClusterWithOptions, SpeaksTlsAndWantsAPassword) {
    redis_server& one = servers().node_of("k");
    EXPECT_EQ(servers().port_of(one), one.tls_port());
    support::redis_connection without{one.socket_path()};
    EXPECT_THAT(without.command({"GET", "k"}).text, StartsWith("NOAUTH"));
    const redis::options how = servers().client_options();
    EXPECT_EQ(how.cluster->addresses.size(), 4U);
    EXPECT_FALSE(how.tls->ca_file.empty());
}

TEST_P(ClusterWithOptions, FindsItsDataAgainOrIsEmptied) {
    redis_cluster& cluster = servers();
    redis_server &primary = cluster.node_of("k"), &replica = cluster.replica_of(primary);
    EXPECT_EQ(put(primary, "a"), "OK");
    EXPECT_EQ(confirmed(primary), 1);
    primary.restart();
    cluster.wait_until_agreed();
    EXPECT_EQ(value_at(primary), "a");
    primary.restart_empty();
    cluster.wait_until_agreed();
    EXPECT_EQ(&cluster.node_of("k"), &primary);
    EXPECT_EQ(replica.command({"DBSIZE"}).integer, 0);
}

} // namespace
} // namespace holdfast
