// SPDX-License-Identifier: Apache-2.0
// Checks that the test Sentinels have the properties that other tests rely on.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_replicas.hpp"
#include "support/redis_server.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using support::eventually;
using support::redis_sentinels;
using support::redis_server;
using testing::StartsWith;

std::string value_at(redis_server& at) {
    return at.command({"GET", "k"}).text;
}
std::string put(redis_server& at, const std::string& value) {
    return at.command({"SET", "k", value}).text;
}

class SentinelsOfTests : public support::on_each_topology<redis_sentinels> {
protected:
    SentinelsOfTests()
        : on_each_topology{{.can_be_cut = true}} {}

    /// Returns what is named then.
    redis_server& another_than(const redis_server& old) {
        EXPECT_TRUE(eventually([&] { return &servers().primary() != &old; }));
        return servers().primary();
    }
};
HOLDFAST_ON_EACH_SERVER(SentinelsOfTests);

TEST_P(SentinelsOfTests, NameThePrimaryAndItsReplicas) {
    redis_server& primary = servers().primary();
    for (const std::size_t each : {0U, 1U, 2U})
        EXPECT_EQ(servers().named_by(servers().sentinel(each)), &primary);
    EXPECT_EQ(put(primary, "a"), "OK");
    EXPECT_EQ(primary.command({"WAIT", "2", "5000"}).integer, 2);
    EXPECT_EQ(value_at(servers().replica(0)), "a");
    EXPECT_EQ(value_at(servers().replica(1)), "a");
}

TEST_P(SentinelsOfTests, ReplaceThePrimaryWhenTheyAreAsked) {
    redis_server& old = servers().primary();
    EXPECT_EQ(put(old, "a"), "OK");
    EXPECT_EQ(old.command({"WAIT", "2", "5000"}).integer, 2);
    servers().failover();
    EXPECT_NE(&servers().primary(), &old);
    EXPECT_EQ(value_at(servers().primary()), "a");
}

TEST_P(SentinelsOfTests, ReplaceAPrimaryThatWasKilled) {
    redis_server& old = servers().primary();
    old.stop();
    EXPECT_EQ(put(another_than(old), "a"), "OK");
}

TEST_P(SentinelsOfTests, ReplaceAPrimaryThatWasStopped) {
    redis_server& old = servers().primary();
    old.pause();
    EXPECT_EQ(put(another_than(old), "a"), "OK");
    old.resume();
    EXPECT_EQ(put(old, "b"), "OK") << "they do not hurry to tell it";
}

TEST_P(SentinelsOfTests, ReplaceAPrimaryThatIsCutOff) {
    redis_server& old = servers().primary();
    EXPECT_EQ(put(old, "before"), "OK");
    EXPECT_EQ(old.command({"WAIT", "2", "5000"}).integer, 2);
    servers().cut(old);
    EXPECT_EQ(put(old, "after"), "OK");
    EXPECT_EQ(old.command({"WAIT", "1", "100"}).integer, 0);
    EXPECT_EQ(value_at(another_than(old)), "before");
}

TEST_P(SentinelsOfTests, DecideWithoutOneOfThem) {
    redis_server& old = servers().primary();
    servers().sentinel(1).stop();
    servers().failover();
    EXPECT_NE(&servers().primary(), &old);
}

TEST_P(SentinelsOfTests, KeepAnOldAddressWhereTheyAreCutOff) {
    redis_server& old = servers().primary();
    redis_server& alone = servers().sentinel(2);
    servers().cut(alone);
    servers().failover();
    EXPECT_EQ(servers().named_by(alone), &old);
    servers().heal();
    EXPECT_TRUE(eventually([&] { return servers().named_by(alone) == &servers().primary(); }));
}

TEST_P(SentinelsOfTests, AreRestored) {
    servers().server(0).stop();
    servers().sentinel(0).pause();
    another_than(servers().server(0)).pause();
    servers().restore();
    redis_server& primary = servers().primary();
    EXPECT_EQ(&primary, &servers().server(0));
    EXPECT_EQ(put(primary, "a"), "OK");
    EXPECT_EQ(primary.command({"WAIT", "2", "5000"}).integer, 2);
    servers().failover();
}

class NewerSentinelsOfTests : public support::on_each_topology<redis_sentinels> {
protected:
    NewerSentinelsOfTests()
        : on_each_topology{{.can_be_cut = true}} {}
};
HOLDFAST_ON_NEWER_SERVERS(NewerSentinelsOfTests);

TEST_P(NewerSentinelsOfTests, ReplaceThePrimaryWhenTheyAreAskedOrItIsCutOff) {
    redis_server& first = servers().primary();
    servers().failover();
    servers().restore();
    EXPECT_EQ(&servers().primary(), &first);
    servers().cut(first);
    EXPECT_EQ(put(first, "a"), "OK");
    EXPECT_EQ(first.command({"WAIT", "1", "100"}).integer, 0);
    EXPECT_TRUE(eventually([&] { return &servers().primary() != &first; }));
}

class SentinelsApart : public support::on_each_topology<redis_sentinels> {
protected:
    SentinelsApart()
        : on_each_topology{{.replicas = 1,
                            .tls = true,
                            .password = "servers'",
                            .sentinel_tls = true,
                            .sentinel_password = "sentinels'"}} {}
};
HOLDFAST_ON_EACH_SERVER(SentinelsApart);

TEST_P(SentinelsApart, HaveAPasswordAndCertificatesOfTheirOwn) {
    redis_server& primary = servers().primary();
    EXPECT_EQ(servers().port_of(primary), primary.tls_port());
    support::redis_connection stranger{servers().sentinel(0).socket_path(), "servers'"};
    EXPECT_THAT(stranger.command({"SENTINEL", "MASTERS"}).text, StartsWith("NOAUTH"));
    const redis::options how = servers().client_options();
    EXPECT_NE(how.tls->ca_file, how.sentinel->tls->ca_file);
    EXPECT_EQ(how.sentinel->addresses.size(), 3U);
    servers().failover();
    EXPECT_NE(&servers().primary(), &primary);
}

} // namespace
} // namespace holdfast
