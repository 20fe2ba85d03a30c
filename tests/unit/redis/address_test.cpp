// SPDX-License-Identifier: Apache-2.0
#include "redis/address.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

options at(std::string host, std::uint16_t port) {
    options how;
    how.host = std::move(host);
    how.port = port;
    return how;
}

TEST(Address, IsHostAndPort) {
    EXPECT_EQ(address_of(at("db.internal", 6380)), "db.internal:6380");
}

TEST(Address, PutsBracketsAroundIPv6) {
    EXPECT_EQ(address_of(at("::1", 6379)), "[::1]:6379");
    EXPECT_EQ(address_of(at("[::1]", 6379)), "[::1]:6379");
}

TEST(Address, OfASocketIsItsPath) {
    options how = at("ignored", 1);
    how.unix_socket = "/run/redis.sock";
    EXPECT_EQ(address_of(how), "unix:/run/redis.sock");
}

TEST(Address, TellsNoPassword) {
    options how = at("db", 1);
    how.user = "someone";
    how.password = "secret";
    EXPECT_EQ(address_of(how), "db:1");
}

} // namespace
} // namespace holdfast::redis
