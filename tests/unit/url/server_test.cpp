// SPDX-License-Identifier: Apache-2.0
#include "url/parameters.hpp"
#include "url/server.hpp"

#include <holdfast/options.hpp>

#include <gtest/gtest.h>

namespace holdfast::url {
namespace {

using namespace std::chrono_literals;

redis::options server_at(std::string_view text) {
    return read_server(split(text));
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
    EXPECT_EQ(all.parameters[0].value, "a&b=");
    EXPECT_EQ(all.parameters[1].value, "x=y z+");
}

} // namespace
} // namespace holdfast::url
