// SPDX-License-Identifier: Apache-2.0
#include "url/client_parameters.hpp"
#include "url/reading.hpp"
#include "url/server.hpp"

#include <holdfast/options.hpp>

#include <string>
#include <utility>

#include <gmock/gmock.h>

namespace holdfast::url {
namespace {

using namespace std::chrono_literals;

redis::options server_at(std::string_view text) {
    return read_server(split(text));
}

void apply_parameters(const parts& all, options& how, redis::options* server) {
    reading inside{all};
    store_url url{inside};
    read_client_parameters(url, how);
    read_server_parameters(url, *server);
    url.refuse_unknown();
}

TEST(UrlServer, IsWhatTheUrlSaysAndTheDefaultsOtherwise) {
    const redis::options defaults;
    const redis::options server = server_at("redis://db.internal");
    EXPECT_EQ(server.host, "db.internal");
    EXPECT_EQ(server.port, defaults.port);
    EXPECT_EQ(server.database, 0u);
    EXPECT_EQ(server.user, "");
    EXPECT_EQ(server.password.reveal(), "");
    EXPECT_EQ(server.unix_socket, "");
}

TEST(UrlServer, EveryPartIsDecoded) {
    const redis::options server = server_at("ReDiS://us%65r:p%40s%2Fs%3A@h%6Fst:1234/%31");
    EXPECT_EQ(server.user, "user");
    EXPECT_EQ(server.password.reveal(), "p@s/s:");
    EXPECT_EQ(server.host, "host");
    EXPECT_EQ(server.port, 1234);
    EXPECT_EQ(server.database, 1u);
}

TEST(UrlServer, APasswordMayHaveColonsAndNoUser) {
    const redis::options server = server_at("redis://:pass:word@host/4294967295");
    EXPECT_EQ(server.user, "");
    EXPECT_EQ(server.password.reveal(), "pass:word");
    EXPECT_EQ(server.database, 4294967295u);
    EXPECT_EQ(server_at("redis://user@host").user, "user");
}

TEST(UrlServer, AddressesOfIPv6StandInBrackets) {
    const redis::options server = server_at("redis://[fe80::1%25eth0]:7000/2");
    EXPECT_EQ(server.host, "fe80::1%eth0");
    EXPECT_EQ(server.port, 7000);
    EXPECT_EQ(server_at("redis://[::1]").host, "::1");
}

TEST(UrlServer, AUnixSocketHasAPath) {
    for (const char* url : {"unix:///run/a%20b.sock", "redis+unix:///run/a%20b.sock",
                            "unix:/run/a%20b.sock", "unix://user:word@/run/a%20b.sock"})
        EXPECT_EQ(server_at(url).unix_socket, "/run/a b.sock") << url;
    EXPECT_EQ(server_at("unix://user:word@/run/a.sock").password.reveal(), "word");
}

using redis::server_address;
using testing::ElementsAre;

TEST(UrlServer, SentinelsHaveHostsAndAService) {
    const redis::options server = server_at(
        "redis+sentinel://us%65r:w%2Cord@s1,s2:26380,[fd00::3]:1,a%2Cb/my%2Fmaster%20x/7");
    ASSERT_TRUE(server.sentinel);
    EXPECT_EQ(server.sentinel->service, "my/master x");
    EXPECT_THAT(server.sentinel->addresses,
                ElementsAre(server_address{"s1", 0}, server_address{"s2", 26380},
                            server_address{"fd00::3", 1}, server_address{"a,b", 0}));
    EXPECT_EQ(server.database, 7u);
    EXPECT_EQ(server.user, "user");
    EXPECT_EQ(server.password.reveal(), "w,ord");
    EXPECT_EQ(server.sentinel->user, "");
    EXPECT_TRUE(server.sentinel->password.empty());
    EXPECT_FALSE(server.tls);
    EXPECT_FALSE(server.cluster);
}

TEST(UrlServer, TheDatabaseBehindTheServiceMayBeLeftOut) {
    for (const char* url : {"redis+sentinel://s/orders", "redis+sentinel://s/orders/",
                            "REDIS+Sentinel://s/order%73/0"}) {
        EXPECT_EQ(server_at(url).sentinel->service, "orders") << url;
        EXPECT_EQ(server_at(url).database, 0u) << url;
    }
    EXPECT_EQ(server_at("redis+sentinel://s/0").sentinel->service, "0");
}

TEST(UrlServer, AClusterHasHosts) {
    const redis::options server = server_at("redis+cluster://user:word@c1:7000,[::1],c3");
    ASSERT_TRUE(server.cluster);
    EXPECT_THAT(
        server.cluster->addresses,
        ElementsAre(server_address{"c1", 7000}, server_address{"::1", 0}, server_address{"c3", 0}));
    EXPECT_EQ(server.user, "user");
    EXPECT_EQ(server.password.reveal(), "word");
    EXPECT_FALSE(server.sentinel);
    EXPECT_EQ(server_at("redis+cluster://c/0").database, 0u);
    EXPECT_EQ(server_at("redis+cluster://c/").cluster->addresses.size(), 1u);
}

TEST(UrlServer, SeveralOverTLSHaveItToo) {
    EXPECT_TRUE(server_at("rediss+sentinel://s/orders").tls);
    EXPECT_TRUE(server_at("rediss+cluster://c").tls);
    EXPECT_FALSE(server_at("redis+cluster://c").tls);
}

TEST(UrlServer, ParametersOfSeveralServersAreSet) {
    const parts all =
        split("redis+sentinel://s/orders?sentinel_user=w%61tch&sentinel_password=a%26b"
              "&replica_timeout=200ms&address_check=1m&topology_check=2s&pubsub=both");
    options how;
    redis::options server = read_server(all);
    apply_parameters(all, how, &server);
    EXPECT_EQ(server.sentinel->user, "watch");
    EXPECT_EQ(server.sentinel->password.reveal(), "a&b");
    EXPECT_EQ(server.replica_timeout, 200ms);
    EXPECT_EQ(server.address_check, 1min);
    EXPECT_EQ(server.topology_check, 2s);
    EXPECT_EQ(server.pubsub, redis::pubsub_form::both);
    for (const auto& [text, form] : {std::pair{"auto", redis::pubsub_form::automatic},
                                     {"plain", redis::pubsub_form::plain},
                                     {"sharded", redis::pubsub_form::sharded}}) {
        apply_parameters(split("redis://h?pubsub=" + std::string{text}), how, &server);
        EXPECT_EQ(server.pubsub, form) << text;
    }
}

TEST(UrlServer, ItsParametersAreSet) {
    const parts all =
        split("unix:///run/a.sock?database=7&connect_timeout=1s&command_timeout=40ms");
    options how;
    redis::options server = read_server(all);
    apply_parameters(all, how, &server);
    EXPECT_EQ(server.database, 7u);
    EXPECT_EQ(server.connect_timeout, 1s);
    EXPECT_EQ(server.command_timeout, 40ms);
}

TEST(UrlServer, OverTLSItHasMoreParameters) {
    EXPECT_FALSE(server_at("redis://host").tls);
    const parts all = split("RedisS://me:word@host/2?tls_ca_file=/a%20b&tls_certificate_file=/c"
                            "&tls_key_file=/k&tls_server_name=db.internal");
    options how;
    redis::options server = read_server(all);
    apply_parameters(all, how, &server);
    EXPECT_EQ(server.host, "host");
    EXPECT_EQ(server.port, redis::options{}.port);
    EXPECT_EQ(server.database, 2u);
    ASSERT_TRUE(server.tls);
    EXPECT_EQ(server.tls->ca_file, "/a b");
    EXPECT_EQ(server.tls->certificate_file, "/c");
    EXPECT_EQ(server.tls->key_file, "/k");
    EXPECT_EQ(server.tls->server_name, "db.internal");
    EXPECT_FALSE(server.tls->insecure_skip_verification);

    const parts unsafe = split("rediss://host?tls_insecure_skip_verification=yes");
    apply_parameters(unsafe, how, &server);
    EXPECT_TRUE(server.tls->insecure_skip_verification);
}

TEST(UrlServer, ParametersAreDecodedAfterTheyAreTakenApart) {
    const parts all = split("memory:a?prefix=a%26b%3D&label=x=y%20z+");
    ASSERT_EQ(all.parameters.size(), 2u);
    EXPECT_EQ(all.parameters[0].name, "prefix");
    EXPECT_EQ(all.parameters[0].value.reveal(), "a&b=");
    EXPECT_EQ(all.parameters[1].value.reveal(), "x=y z+");
}

} // namespace
} // namespace holdfast::url
