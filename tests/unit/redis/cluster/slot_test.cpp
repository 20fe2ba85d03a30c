// SPDX-License-Identifier: Apache-2.0
// What real servers compute is compared in tests/redis/slots_server_test.cpp.
#include "redis/cluster/slot.hpp"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

TEST(Slot, IsTheChecksumOfTheKey) {
    EXPECT_EQ(key_slot(""), 0);
    EXPECT_EQ(key_slot("123456789"), 0x31C3); // the check value of CRC-16/XMODEM
    EXPECT_EQ(key_slot("foo"), 12182);        // CLUSTER KEYSLOT of redis 7.0 from here on
    EXPECT_EQ(key_slot("bar"), 5061);
    EXPECT_EQ(key_slot("somekey"), 11058);
    EXPECT_EQ(key_slot("\xC3\xA9t\xC3\xA9"), 10087);
    EXPECT_EQ(key_slot(std::string_view{"a\0b", 3}), 8383);
    EXPECT_EQ(key_slot(std::string(1000, 'x')), 3195);
}

TEST(Slot, IsThatOfTheFirstTagAlone) {
    EXPECT_EQ(key_slot("foo{hash_tag}"), 2515);
    EXPECT_EQ(key_slot("foo{hash_tag}"), key_slot("hash_tag"));
    EXPECT_EQ(key_slot("{user1000}.following"), key_slot("{user1000}.followers"));
    EXPECT_EQ(key_slot("foo{bar}{zap}"), key_slot("bar"));
    EXPECT_EQ(key_slot("foo{{bar}}zap"), key_slot("{bar"));
    EXPECT_EQ(key_slot("}foo{bar}"), key_slot("bar"));
}

TEST(Slot, IsThatOfTheWholeKeyWhereTheTagIsEmptyOrOpen) {
    EXPECT_EQ(hashed_part("foo{}{bar}"), "foo{}{bar}");
    EXPECT_EQ(hashed_part("{}"), "{}");
    EXPECT_EQ(hashed_part("{"), "{");
    EXPECT_EQ(hashed_part("}{"), "}{");
    EXPECT_EQ(hashed_part("foo{bar"), "foo{bar");
    EXPECT_EQ(key_slot("foo{}{bar}"), 8363);
}

} // namespace
} // namespace holdfast::redis
