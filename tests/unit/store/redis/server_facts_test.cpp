// SPDX-License-Identifier: Apache-2.0
#include "store/redis/server_facts.hpp"

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

/// What is well, but for this.
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
}

TEST(ServerFacts, TellValkeyFromRedisAndTheOldFromTheTested) {
    EXPECT_EQ(about("version", "valkey_version", "8.0.1").what, "Valkey 8.0.1");
    EXPECT_EQ(about("version", "redis_version", "5.0.14").how_bad, severity::warning);
}

TEST(ServerFacts, AnEvictingServerIsDangerousOnceItsMemoryIsBounded) {
    EXPECT_EQ(about("eviction", "maxmemory_policy", "allkeys-lru").how_bad, severity::note);
    const finding full = about(
        "eviction", std::string{"maxmemory:1000000\r\nmaxmemory_policy:volatile-ttl\r\n"} + well);
    EXPECT_EQ(full.how_bad, severity::danger);
    EXPECT_THAT(full.remedy, HasSubstr("noeviction"));
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
    EXPECT_THAT(bare.what, HasSubstr("empties its replicas"));
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

} // namespace
} // namespace holdfast::redis
