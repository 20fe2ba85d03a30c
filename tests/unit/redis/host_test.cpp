// SPDX-License-Identifier: Apache-2.0
// What a redirection's address may be: tests/unit/redis/cluster/redirection_test.cpp.
#include "redis/wire/host.hpp"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

TEST(Host, IsPrintableAndNotTooLong) {
    EXPECT_TRUE(is_host("a"));
    EXPECT_TRUE(is_host("fe80::1%eth0"));
    EXPECT_TRUE(is_host(std::string(253, 'a')));
    EXPECT_FALSE(is_host(std::string(254, 'a')));
    EXPECT_FALSE(is_host(""));
    EXPECT_FALSE(is_host("a b"));
    EXPECT_FALSE(is_host("a\tb"));
    EXPECT_FALSE(is_host({"a\0b", 3}));
    EXPECT_FALSE(is_host("h\xC3\xA9"));
}

TEST(Host, APortIsDigitsAlone) {
    EXPECT_EQ(read_port("1"), 1);
    EXPECT_EQ(read_port("65535"), 65535);
    for (const char* text :
         {"", "0", "65536", "-1", "+1", " 1", "1 ", "1x", "99999999999999999999"})
        EXPECT_FALSE(read_port(text)) << text;
}

TEST(Host, AndPortAreCutAtTheLastColon) {
    EXPECT_EQ(read_host_and_port("a:1", "b"), (server_address{"a", 1}));
    EXPECT_EQ(read_host_and_port("::1:2", "b"), (server_address{"::1", 2}));
    EXPECT_EQ(read_host_and_port("[::1]:2", "b"), (server_address{"::1", 2}));
    EXPECT_EQ(read_host_and_port(":2", "b"), (server_address{"b", 2}));
    for (const char* text : {"", "a", "a:", "1", "[]:x"})
        EXPECT_FALSE(read_host_and_port(text, "b")) << text;
}

} // namespace
} // namespace holdfast::redis
