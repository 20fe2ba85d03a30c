// SPDX-License-Identifier: Apache-2.0
#include "redis/node.hpp"
#include "store/redis/doctor.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* well = "# Server\r\nredis_version:7.0.15\r\nmaxmemory:0\r\n"
                             "maxmemory_policy:noeviction\r\nrole:master\r\n"
                             "connected_slaves:0\r\naof_enabled:1\r\nconnected_clients:5\r\n"
                             "maxclients:10000\r\n";

finding about(const std::string& topic, const std::string& info) {
    const std::vector<finding> all = server_facts{info}.judge();
    const auto found = std::ranges::find(all, topic, &finding::topic);
    return found == all.end() ? finding{} : *found;
}

/// Returns the finding about a topic for a server without problems, except for the given field.
finding about(const std::string& topic, std::string field, const std::string& value) {
    return about(topic, field + ":" + value + "\r\n" + well);
}

TEST(ServerFacts, OfAServerThatIsFitAreFine) {
    const std::vector<finding> all = server_facts{well}.judge();
    EXPECT_EQ(all.size(), 4u);
    for (const finding& each : all) {
        EXPECT_EQ(each.how_bad, severity::fine) << each.topic;
        EXPECT_THAT(each.what, Not(IsEmpty()));
        EXPECT_THAT(each.remedy, IsEmpty()) << each.topic;
    }
}

TEST(ServerFacts, WithoutAnyAreNoDanger) {
    for (const finding& each : server_facts{""}.judge())
        EXPECT_LT(each.how_bad, severity::danger) << each.what;
    EXPECT_EQ(server_facts{""}.judge().at(0).what,
              "The reply to INFO does not contain the version of the server.");
}

TEST(ServerFacts, TellValkeyFromRedisAndTheOldFromTheTested) {
    EXPECT_EQ(about("version", "valkey_version", "8.0.1").what, "The server is Valkey 8.0.1.");
    EXPECT_EQ(about("version", "redis_version", "5.0.14").how_bad, severity::warning);
}

TEST(ServerFacts, AnEvictingServerIsDangerousOnceItsMemoryIsBounded) {
    EXPECT_EQ(about("eviction", "maxmemory_policy", "allkeys-lru").how_bad, severity::note);
    const finding full = about(
        "eviction", std::string{"maxmemory:1000000\r\nmaxmemory_policy:volatile-ttl\r\n"} + well);
    EXPECT_EQ(full.how_bad, severity::danger);
    EXPECT_THAT(full.remedy, HasSubstr("noeviction"));
}

TEST(ServerFacts, EvictedKeysAreReportedWhateverThePolicyIsNow) {
    EXPECT_EQ(about("eviction", "evicted_keys", "0").how_bad, severity::fine);
    const finding before = about("eviction", "evicted_keys", "17");
    EXPECT_EQ(before.how_bad, severity::note);
    EXPECT_THAT(before.what, HasSubstr("noeviction. The server has evicted keys since it started "
                                       "(their number is 17)."));
    EXPECT_THAT(before.remedy, HasSubstr("set_permits()"));
    const finding now = about(
        "eviction",
        std::string{"maxmemory:1000000\r\nmaxmemory_policy:allkeys-lru\r\nevicted_keys:1\r\n"} +
            well);
    EXPECT_EQ(now.how_bad, severity::danger);
    EXPECT_THAT(now.what, HasSubstr("(their number is 1)"));
    EXPECT_THAT(now.remedy, HasSubstr("noeviction. If permits"));
}

TEST(ServerFacts, AServerThatCannotSaveMayRefuseSoon) {
    for (const char* field : {"rdb_last_bgsave_status", "aof_last_write_status"})
        EXPECT_EQ(about("persistence", field, "err").how_bad, severity::danger) << field;
    EXPECT_EQ(about("persistence", "aof_enabled", "0").how_bad, severity::note);
}

TEST(ServerFacts, AnAppendOnlyFileMayLackTheLatestLocks) {
    const auto persistence = [](const std::string& fsync, const std::string& file) {
        return server_facts{"aof_enabled:" + file, {.fsync = fsync}}.judge().at(2);
    };
    EXPECT_EQ(persistence("always", "1").how_bad, severity::fine);
    EXPECT_EQ(persistence("", "1").how_bad, severity::fine) << "it is not known";
    EXPECT_EQ(persistence("everysec", "1").how_bad, severity::note);
    EXPECT_THAT(persistence("everysec", "1").what, HasSubstr("everysec"));
    EXPECT_EQ(persistence("no", "1").how_bad, severity::note);
    EXPECT_THAT(persistence("always", "0").what, HasSubstr("may free all locks"));
}

TEST(ServerFacts, AnEmptyPrimaryEmptiesItsReplicas) {
    const finding bare = server_facts{"aof_enabled:0", {.has_replicas = true}}.judge().at(2);
    EXPECT_EQ(bare.how_bad, severity::warning);
    EXPECT_THAT(bare.what, HasSubstr("Its replicas then delete all locks"));
    EXPECT_EQ(server_facts("aof_enabled:1", {.has_replicas = true}).judge().at(2).how_bad,
              severity::fine);
}

TEST(ServerFacts, ReplicasAreWorthKnowingAndBeingOneIsDangerous) {
    const auto role = [](const std::string& info) { return server_facts{info}.role().how_bad; };
    EXPECT_EQ(role(well), severity::fine);
    EXPECT_EQ(role("role:master\r\nconnected_slaves:2"), severity::note);
    EXPECT_EQ(role("role:slave"), severity::danger);
}

TEST(ServerFacts, RoomForClientsIsMissedBeforeItIsGone) {
    EXPECT_EQ(about("clients", "connected_clients", "8999").how_bad, severity::fine);
    EXPECT_EQ(about("clients", "connected_clients", "9000").how_bad, severity::warning);
}

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr const char* fit_info = "redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\n"
                                 "role:master\r\naof_enabled:1\r\nconnected_clients:5\r\n"
                                 "maxclients:10000\r\nrun_id:1\r\n";

server_report server(const std::string& address, std::size_t replicas = 0) {
    server_report one{.address = address, .info = fit_info, .fsync = "always"};
    one.clock = clock_reading{microseconds{0}, microseconds{1000}};
    one.node_timeout = 5s;
    one.replicas_migrate = false;
    one.open = open_slots{};
    one.plain_listeners = one.shard_listeners = false;
    for (std::size_t i = 0; i < replicas; ++i)
        one.info +=
            "slave" + std::to_string(i) + ":ip=10.0.0.9,port=1,state=online,offset=1,lag=0\r\n";
    return one;
}

/// A primary with one replica.
shard_report shard_of(const std::string& name) {
    return {server(name + ":1", 1), {server(name + ":2")}};
}

topology_report single() {
    return {.what = topology_report::kind::single, .shards = {shard_of("a")}};
}
topology_report cluster() {
    return {.what = topology_report::kind::cluster,
            .shards = {shard_of("a"), shard_of("b"), shard_of("c")},
            .form = telling::sharded};
}
topology_report sentinels() {
    topology_report all{
        .what = topology_report::kind::sentinels, .shards = {shard_of("a")}, .service = "locks"};
    const server_address primary{"a", 1};
    for (const char* each : {"s:1", "s:2", "s:3"})
        all.sentinels.push_back({.address = each,
                                 .primary = primary,
                                 .service = service_facts{.primary = primary, .down_after = 5s}});
    return all;
}

std::vector<finding> judged(const topology_report& all, std::size_t replicas = 0,
                            duration lease = 30s) {
    return judge_topology(all, {lease, replicas}, fit_info);
}

/// Returns the findings about a topic that have this severity.
std::vector<std::string> words(const std::vector<finding>& all, severity how_bad,
                               const std::string& topic) {
    std::vector<std::string> found;
    for (const finding& each : all)
        if (each.how_bad == how_bad && each.topic == topic)
            found.push_back(each.what);
    return found;
}

severity worst(const std::vector<finding>& all) {
    return diagnosis{all}.worst();
}

MATCHER_P(IsOne, what, "") {
    return arg.size() == 1 && arg.front().find(what) != std::string::npos;
}

TEST(TopologyFindings, OfServersThatAreFitSayWhatIsThere) {
    EXPECT_EQ(worst(judged(cluster())), severity::note); // no replica is required
    EXPECT_THAT(
        words(judged(cluster()), severity::fine, "topology"),
        IsOne("The cluster has 3 primaries: a:1 (replicas: a:2), b:1 (replicas: b:2), c:1"));
    EXPECT_THAT(words(judged(sentinels()), severity::fine, "topology"),
                IsOne("the primary of 'locks' is a:1 (replicas: a:2)."));
    EXPECT_THAT(words(judged(single()), severity::fine, "topology"),
                IsOne("This server is the primary a:1 (replicas: a:2)."));
}

TEST(TopologyFindings, SayWhatAllServersHaveInCommonOnce) {
    EXPECT_THAT(words(judged(cluster()), severity::fine, "version"),
                IsOne("The server is Redis 7.0.15. This finding is about all 6 servers."));
    topology_report mixed = cluster();
    mixed.shards[1].primary.info.replace(0, 20, "redis_version:7.2.50");
    EXPECT_THAT(words(judged(mixed), severity::fine, "version"),
                IsOne("The server is Redis 7.0.15. This finding is about a:1. There are similar "
                      "findings about a:2, b:1, b:2, c:1, c:2."));
    mixed.shards[1].primary.info += "maxmemory:1000\r\n";
    mixed.shards[1].primary.info.replace(mixed.shards[1].primary.info.find("noeviction"), 10,
                                         "allkeyslru");
    EXPECT_THAT(words(judged(mixed), severity::danger, "eviction"), IsOne("about b:1."));
    EXPECT_THAT(words(judged(mixed), severity::fine, "eviction"),
                IsOne("noeviction. This finding is about a:1, a:2, b:2, c:1, c:2."));
}

TEST(TopologyFindings, AServerThatIsAwayIsMissed) {
    topology_report all = cluster();
    all.shards[0].replicas[0] = {.address = "a:2", .trouble = "Connection refused"};
    EXPECT_THAT(words(judged(all), severity::warning, "topology"),
                IsOne("The replica a:2 could not be asked: Connection refused"));
}

TEST(TopologyFindings, SlotsThatNobodyHasAndPrimariesAloneAreMissed) {
    topology_report all = cluster();
    all.unserved_slots = 7;
    EXPECT_THAT(words(judged(all), severity::warning, "topology"), IsOne("7 of 16384 slots"));
    all = cluster();
    all.shards[2].replicas.clear();
    EXPECT_THAT(words(judged(all), severity::warning, "topology"), IsOne("c:1 has no replica"));
}

TEST(TopologyFindings, AnOpenSlotIsADanger) {
    topology_report all = cluster();
    all.shards[1].primary.open = open_slots{2, 93};
    EXPECT_THAT(
        words(judged(all), severity::danger, "topology"),
        IsOne("Slots are being moved at b:1 (their number is 2, and the first is slot 93)"));
    all.shards[1].primary.open.reset();
    EXPECT_THAT(words(judged(all), severity::note, "topology"), IsOne("CLUSTER NODES is denied"));
}

TEST(TopologyFindings, WhoNamesAnotherServerIsNamed) {
    topology_report all = cluster();
    all.shards[0].replicas[0].other_view = disagreement{100, 5, {"z", 9}};
    EXPECT_THAT(words(judged(all), severity::warning, "topology"),
                IsOne("The node a:2 names z:9 as the server of 100 slots"));

    topology_report set = sentinels();
    set.sentinels[1].primary = server_address{"z", 9};
    EXPECT_THAT(words(judged(set), severity::warning, "topology"),
                IsOne("The Sentinel s:2 names z:9 as the primary, and not a:1"));
    set.sentinels[1] = {.address = "s:2", .trouble = "Connection refused"};
    EXPECT_THAT(
        words(judged(set), severity::warning, "topology"),
        IsOne("The Sentinel s:2 did not return the address of the primary: Connection refused"));
    set.sentinels[1] = {.address = "s:2"};
    EXPECT_THAT(words(judged(set), severity::warning, "topology"),
                IsOne("The Sentinel s:2 does not know the service 'locks'."));
}

struct time_of_failover {
    duration set;
    duration lease;
    severity how_bad;
    const char* words;
};

TEST(TopologyFindings, TheTimeOfAFailoverIsComparedWithTheLease) {
    const time_of_failover by_cluster[] = {
        {5s, 30s, severity::fine, "about 7.4 s (cluster-node-timeout is 5 s)"},
        {15s, 30s, severity::warning, "Held locks may be lost"},
        {20s, 30s, severity::danger,
         "(cluster-node-timeout is 20 s). A lock with a lease time of 30 s survives"},
        {500ms, 3s, severity::fine,
         "A lock with a lease time of 3 s survives a failover of at most 1.9 s."},
        {500ms, 2s, severity::warning, "cluster-node-timeout is 500 ms"}};
    for (const auto& [set, lease, how_bad, said] : by_cluster) {
        topology_report all = cluster();
        all.shards[1].replicas[0].node_timeout = set; // the longest counts
        for (shard_report& each : all.shards)
            each.primary.node_timeout = std::min<duration>(set, 1s);
        all.shards[0].replicas[0].node_timeout = all.shards[2].replicas[0].node_timeout = 1ms;
        EXPECT_THAT(words(judged(all, 0, lease), how_bad, "failover"), IsOne(said));
    }
    const time_of_failover by_sentinels[] = {
        {5s, 30s, severity::fine, "about 6.5 s (down-after-milliseconds is 5 s)"},
        {19s, 30s, severity::warning, "Held locks may be lost"},
        {30s, 30s, severity::danger, "Every held lock is lost in a failover."}};
    for (const auto& [set, lease, how_bad, said] : by_sentinels) {
        topology_report all = sentinels();
        for (sentinel_report& each : all.sentinels)
            each.service->down_after = 1s;
        all.sentinels[2].service->down_after = set;
        EXPECT_THAT(words(judged(all, 0, lease), how_bad, "failover"), IsOne(said));
    }
}

TEST(TopologyFindings, ATimeOfFailoverThatIsNotToldIsNoted) {
    topology_report all = cluster();
    for (shard_report& each : all.shards)
        each.primary.node_timeout = each.replicas[0].node_timeout = std::nullopt;
    EXPECT_THAT(words(judged(all), severity::note, "failover"),
                IsOne("CONFIG GET cluster-node-timeout is denied"));
    topology_report set = sentinels();
    for (sentinel_report& each : set.sentinels)
        each.service.reset();
    EXPECT_THAT(words(judged(set), severity::note, "failover"), IsOne("SENTINEL MASTER is denied"));
    EXPECT_THAT(words(judged(single()), severity::note, "failover"), IsEmpty());
}

TEST(TopologyFindings, RequiredReplicasAreCounted) {
    EXPECT_THAT(words(judged(cluster(), 0), severity::note, "replicas"),
                IsOne("no replica is required to confirm a lock"));
    EXPECT_THAT(words(judged(cluster(), 1), severity::note, "replicas"),
                IsOne("a:1 has 1 of 1 required replicas online. If a replica fails"));
    EXPECT_THAT(words(judged(cluster(), 1), severity::warning, "replicas"), IsEmpty());
    EXPECT_THAT(words(judged(cluster(), 2), severity::danger, "replicas"),
                IsOne("no lock is granted or renewed"));

    topology_report uneven = cluster();
    uneven.shards[0].primary = server("a:1", 2);
    uneven.shards[2].primary = server("c:1", 0);
    EXPECT_THAT(words(judged(uneven, 1), severity::warning, "replicas"),
                IsOne("More replicas are online (2) than are required (1)"));
    EXPECT_THAT(words(judged(uneven, 1), severity::danger, "replicas"),
                IsOne("c:1 has 0 of 1 required replicas online"));
}

TEST(TopologyFindings, ReplicasThatMigrateChangeTheirNumber) {
    topology_report all = cluster();
    all.shards[0].primary.replicas_migrate = true;
    EXPECT_THAT(words(judged(all, 1), severity::warning, "replicas"), IsOne("may migrate"));
    EXPECT_THAT(words(judged(all, 0), severity::warning, "replicas"), IsEmpty());
}

TEST(TopologyFindings, WaitIsNeededWhereReplicasAreRequired) {
    topology_report all = cluster();
    all.shards[1].primary.wait_refusal = "NOPERM no permissions to run the 'wait' command";
    EXPECT_THAT(words(judged(all, 1), severity::danger, "replicas"),
                IsOne("WAIT is refused at b:1 (NOPERM"));
    EXPECT_THAT(words(judged(all, 0), severity::note, "replicas").back(),
                HasSubstr("required_replicas cannot be used here"));
}

TEST(TopologyFindings, AnEmptyPrimaryIsADangerToItsReplicas) {
    topology_report all = single();
    all.shards[0].primary.info = std::string{"aof_enabled:0\r\n"} + fit_info;
    EXPECT_THAT(words(judged(all), severity::warning, "persistence"),
                IsOne("Its replicas then delete all locks too. This finding is about a:1."));
    all.shards[0].replicas.clear();
    EXPECT_THAT(words(judged(all), severity::note, "persistence"), IsOne("may free all locks"));
}

TEST(TopologyFindings, ClocksOfPrimaryAndReplicaMustAgreeWithinTheMarginOfALease) {
    EXPECT_THAT(words(judged(single()), severity::fine, "clocks"), IsOne("agree within 302 ms"));
    topology_report all = cluster();
    all.shards[1].replicas[0].clock = clock_reading{20s, 20s + 1ms};
    EXPECT_THAT(
        words(judged(all), severity::warning, "clocks"),
        IsOne("The clock of the replica b:2 is 19.9 s ahead of the clock of its primary b:1"));
    EXPECT_THAT(words(judged(all), severity::fine, "clocks"), IsEmpty());
    all.shards[1].replicas[0].clock = clock_reading{-1s, -990ms};
    EXPECT_THAT(words(judged(all), severity::warning, "clocks"), IsOne("990 ms behind"));
    // Only what is sure counts; and that of another shard does not.
    all.shards[1].replicas[0].clock = clock_reading{250ms, 900ms};
    all.shards[2].primary.clock = all.shards[2].replicas[0].clock = clock_reading{9s, 9s};
    EXPECT_THAT(words(judged(all), severity::warning, "clocks"), IsEmpty());
    for (shard_report& each : all.shards)
        each.primary.clock.reset();
    EXPECT_THAT(words(judged(all), severity::fine, "clocks"), IsEmpty()) << "nothing was compared";
}

TEST(TopologyFindings, WhoListensInAnotherFormIsNotTold) {
    EXPECT_THAT(words(judged(cluster()), severity::fine, "listening"), IsOne("SPUBLISH"));
    topology_report all = cluster();
    all.shards[0].primary.shard_listeners = true; // as we do
    EXPECT_THAT(words(judged(all), severity::warning, "listening"), IsEmpty());
    all.shards[2].replicas[0].plain_listeners = true;
    EXPECT_THAT(
        words(judged(all), severity::warning, "listening"),
        IsOne("Other clients have subscribed to plain messages at c:2. This client publishes "
              "only sharded messages."));
    all.form = telling::both;
    EXPECT_THAT(words(judged(all), severity::warning, "listening"), IsEmpty());
    all.form = telling::plain;
    EXPECT_THAT(words(judged(all), severity::warning, "listening"),
                IsOne("Other clients have subscribed to sharded messages at a:1. This client "
                      "publishes only plain messages."));
    all.shards[1].primary.shard_listeners.reset();
    EXPECT_THAT(words(judged(all), severity::note, "listening"), IsOne("PUBSUB is denied at b:1"));
}

TEST(TopologyFindings, ANodeOfAClusterNeedsAnotherUrl) {
    topology_report all = single();
    all.shards[0].primary.info += "cluster_enabled:1\r\n";
    const std::vector<finding> found = judged(all);
    EXPECT_THAT(words(found, severity::danger, "reach"),
                IsOne("This server is a node of a cluster."));
    EXPECT_EQ(found.front().remedy, "Use the URL of the cluster: redis+cluster://a:1");
    all.over_tls = true;
    EXPECT_EQ(judged(all).front().remedy, "Use the URL of the cluster: rediss+cluster://a:1");
    EXPECT_THAT(words(judged(cluster()), severity::danger, "reach"), IsEmpty());
}

TEST(TopologyFindings, AReplicaGrantsNothing) {
    topology_report all = single();
    all.shards[0].primary.info = "role:slave\r\n";
    EXPECT_THAT(words(judged(all), severity::danger, "topology"),
                IsOne("This server is a replica."));
}

TEST(TopologyFindings, SeveralServersBehindOneAddressAreNoted) {
    topology_report all = single();
    EXPECT_THAT(words(judged(all), severity::note, "reach"), IsEmpty());
    all.shards[0].primary.clock_jumps = true;
    EXPECT_THAT(words(judged(all), severity::note, "reach"), IsOne("clock jumped"));
    EXPECT_THAT(words(judge_topology(all, {30s, 0}, "run_id:2\r\n"), severity::note, "reach"),
                IsOne("Two connections to the same address reached different servers."));
}

TEST(TopologyFindings, WhereInfoIsDeniedNothingIsSaidOfIt) {
    topology_report all = single();
    all.shards[0] = {{.address = "a:1"}, {}};
    EXPECT_THAT(judged(all), IsEmpty());
}

} // namespace
} // namespace holdfast::redis
