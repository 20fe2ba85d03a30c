// SPDX-License-Identifier: Apache-2.0
#include "net/address.hpp"

#include <gtest/gtest.h>

namespace holdfast::net {
namespace {

TEST(Address, IsHostAndPort) {
    EXPECT_EQ(address_of("", "db.internal", 6380), "db.internal:6380");
}

TEST(Address, PutsBracketsAroundIPv6) {
    EXPECT_EQ(address_of("", "::1", 6379), "[::1]:6379");
    EXPECT_EQ(address_of("", "[::1]", 6379), "[::1]:6379");
}

TEST(Address, OfASocketIsItsPath) {
    EXPECT_EQ(address_of("/run/redis.sock", "ignored", 1), "unix:/run/redis.sock");
}

} // namespace
} // namespace holdfast::net
