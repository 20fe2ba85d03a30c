// SPDX-License-Identifier: Apache-2.0
// What `make_store` refuses before anything is sent.
#include <holdfast/error.hpp>
#include <holdfast/redis/options.hpp>

#include <boost/system/system_error.hpp>

#include <functional>
#include <string>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using ::testing::HasSubstr;

std::string objection_to(const std::function<void(redis::options&)>& change) {
    redis::options how;
    change(how);
    try {
        (void)redis::make_store(how);
        return "none";
    } catch (const boost::system::system_error& refused) {
        EXPECT_EQ(refused.code(), errc::invalid_argument);
        return refused.what();
    }
}

void with_sentinels(redis::options& how) {
    how.sentinel.emplace().service = "orders";
    how.sentinel->addresses = {{"s1", 0}, {"s2", 26380}};
}
void with_cluster(redis::options& how) {
    how.cluster.emplace().addresses = {{"c1", 0}, {"c2", 7000}};
}

TEST(RedisOptions, AsTheyComeAreFine) {
    EXPECT_EQ(objection_to([](redis::options&) {}), "none");
    EXPECT_EQ(objection_to([](redis::options& o) { o.unix_socket = "/run/redis"; }), "none");
    EXPECT_EQ(objection_to([](redis::options& o) { o.subscription_linger = {}; }), "none");
}

TEST(RedisOptions, EachObjectionNamesItsField) {
    using options = redis::options;
    EXPECT_THAT(objection_to([](options& o) { o.host = ""; }), HasSubstr("host"));
    EXPECT_THAT(objection_to([](options& o) { o.host = {"a\0b", 3}; }), HasSubstr("host"));
    EXPECT_THAT(objection_to([](options& o) { o.port = 0; }), HasSubstr("port"));
    EXPECT_THAT(objection_to([](options& o) { o.unix_socket = std::string(108, '/'); }),
                HasSubstr("unix_socket"));
    EXPECT_THAT(objection_to([](options& o) { o.connect_timeout = duration{0}; }),
                HasSubstr("connect_timeout is 0 ms; allowed are 1 ms to 1 day"));
    EXPECT_THAT(objection_to([](options& o) { o.command_timeout = duration{-1}; }),
                HasSubstr("command_timeout"));
    EXPECT_THAT(objection_to([](options& o) { o.command_timeout = duration::max(); }),
                HasSubstr("command_timeout"));
    EXPECT_THAT(objection_to([](options& o) { o.backoff_min = duration{0}; }),
                HasSubstr("backoff_min is 0 ms"));
    EXPECT_THAT(objection_to([](options& o) { o.backoff_min = duration{5'000}; }),
                HasSubstr("backoff_min is longer than backoff_max"));
    EXPECT_THAT(objection_to([](options& o) { o.backoff_max = duration::max(); }),
                HasSubstr("backoff_max is 9223372036854775807 ms"));
    EXPECT_THAT(objection_to([](options& o) { o.subscription_linger = duration{-1}; }),
                HasSubstr("subscription_linger is -1 ms; allowed are 0 ms to 1 day"));
    EXPECT_THAT(objection_to([](options& o) { o.lanes_max = 1001; }), HasSubstr("lanes_max"));
    EXPECT_THAT(objection_to([](options& o) { o.polling = std::chrono::microseconds{-1}; }),
                HasSubstr("polling is -1 us; allowed are 0 us to 10000 us"));
    EXPECT_THAT(objection_to([](options& o) { o.polling = std::chrono::milliseconds{11}; }),
                HasSubstr("polling"));
    EXPECT_THAT(objection_to([](options& o) { o.requests_max = 0; }), HasSubstr("requests_max"));
    EXPECT_THAT(objection_to([](options& o) { o.reply_bytes_max = 0; }),
                HasSubstr("reply_bytes_max"));
}

TEST(RedisOptions, SentinelsAndClustersAreTaken) {
    EXPECT_EQ(objection_to(with_sentinels), "none");
    EXPECT_EQ(objection_to(with_cluster), "none");
    EXPECT_EQ(objection_to([](redis::options& o) {
                  with_cluster(o);
                  o.cluster->addresses.resize(64, {});
                  for (std::size_t i = 0; i < 64; ++i)
                      o.cluster->addresses[i] = {"c" + std::to_string(i), 0};
                  o.pubsub = redis::pubsub_form::both;
                  o.host = ""; // which is not used then
              }),
              "none");
}

TEST(RedisOptions, OneServerOrSentinelsOrACluster) {
    using options = redis::options;
    EXPECT_THAT(objection_to([](options& o) {
                    with_sentinels(o);
                    with_cluster(o);
                }),
                HasSubstr("sentinel and cluster are both given"));
    for (const auto& several : {with_sentinels, with_cluster})
        EXPECT_THAT(objection_to([&](options& o) {
                        several(o);
                        o.unix_socket = "/run/redis";
                    }),
                    HasSubstr("unix_socket is given, and Sentinels and clusters are reached by"));
}

TEST(RedisOptions, EachObjectionToSeveralServersNamesItsField) {
    using options = redis::options;
    const auto objection_with = [](const auto& several, const auto& change) {
        return objection_to([&](options& o) {
            several(o);
            change(o);
        });
    };
    EXPECT_THAT(objection_with(with_sentinels, [](options& o) { o.sentinel->service = ""; }),
                HasSubstr("sentinel.service is empty"));
    EXPECT_THAT(objection_with(with_sentinels, [](options& o) { o.sentinel->addresses = {}; }),
                HasSubstr("sentinel.addresses has 0 entries; allowed are 1 to 64"));
    EXPECT_THAT(
        objection_with(with_sentinels, [](options& o) { o.sentinel->addresses[1].host = ""; }),
        HasSubstr("sentinel.addresses: a host is empty"));
    EXPECT_THAT(objection_with(with_sentinels,
                               [](options& o) {
                                   o.sentinel->addresses[1].host = {"\0", 1};
                               }),
                HasSubstr("sentinel.addresses: a host contains a NUL byte"));
    EXPECT_THAT(
        objection_with(with_sentinels,
                       [](options& o) {
                           o.sentinel->addresses[1] = {o.sentinel->addresses[0].host, 26379};
                       }),
        HasSubstr("sentinel.addresses has the same server twice, as number 1 and 2"));
    EXPECT_THAT(
        objection_with(with_sentinels,
                       [](options& o) { o.sentinel->tls.emplace().ca_file = "/no/such/file"; }),
        HasSubstr("/no/such/file"));
    EXPECT_THAT(objection_with(with_sentinels,
                               [](options& o) { o.sentinel->tls.emplace().key_file = "/a"; }),
                HasSubstr("sentinel.tls.certificate_file and sentinel.tls.key_file belong"));
    EXPECT_THAT(objection_with(with_cluster, [](options& o) { o.cluster->addresses = {}; }),
                HasSubstr("cluster.addresses has 0 entries"));
    EXPECT_THAT(objection_with(with_cluster, [](options& o) { o.cluster->addresses.resize(65); }),
                HasSubstr("cluster.addresses has 65 entries; allowed are 1 to 64"));
    EXPECT_THAT(objection_with(with_cluster, [](options& o) { o.database = 2; }),
                HasSubstr("database is 2; a cluster has database 0 alone"));
    EXPECT_EQ(objection_with(with_sentinels, [](options& o) { o.database = 2; }), "none");
}

TEST(RedisOptions, OnlyAClusterHasSeveralWaysOfTelling) {
    using enum redis::pubsub_form;
    for (const auto form : {sharded, both}) {
        const auto set = [&](redis::options& o) { o.pubsub = form; };
        EXPECT_THAT(objection_to(set),
                    HasSubstr("; outside of a cluster, automatic and plain are allowed"));
    }
    EXPECT_EQ(objection_to([](redis::options& o) { o.pubsub = plain; }), "none");
    EXPECT_THAT(objection_to([](redis::options& o) {
                    with_cluster(o);
                    o.pubsub = static_cast<redis::pubsub_form>(4);
                }),
                HasSubstr("pubsub is none of automatic, plain, sharded and both"));
}

TEST(RedisOptions, ReplicasAreWaitedForAThirdOfTheTimeLimitAtMost) {
    using options = redis::options;
    EXPECT_THAT(objection_to([](options& o) { o.replica_timeout = duration{1'001}; }),
                HasSubstr("replica_timeout is 1001 ms; the most is a third of command_timeout, "
                          "which is 1000 ms"));
    EXPECT_THAT(objection_to([](options& o) { o.replica_timeout = duration{0}; }),
                HasSubstr("replica_timeout is 0 ms; allowed are 1 ms to 1 day"));
    EXPECT_EQ(objection_to([](options& o) { o.command_timeout = duration{1}; }), "none");
}

TEST(RedisOptions, TimesBetweenQuestionsHaveBounds) {
    using options = redis::options;
    EXPECT_EQ(objection_to([](options& o) { o.address_check = duration{0}; }), "none");
    EXPECT_THAT(objection_to([](options& o) { o.address_check = duration{-1}; }),
                HasSubstr("address_check is -1 ms; allowed are 0 ms to 1 day"));
    EXPECT_THAT(objection_to([](options& o) { o.address_check = duration::max(); }),
                HasSubstr("address_check"));
    EXPECT_THAT(objection_to([](options& o) { o.topology_check = duration{99}; }),
                HasSubstr("topology_check is 99 ms; allowed are 100 ms to 1 day"));
    EXPECT_THAT(objection_to([](options& o) { o.topology_check = duration::max(); }),
                HasSubstr("topology_check"));
}

} // namespace
} // namespace holdfast
