// SPDX-License-Identifier: Apache-2.0
// How many permits there are, as Curator's SharedCount has it and as we do.
#include "store/zookeeper/semaphore_paths.hpp"

#include <holdfast/counters.hpp>

#include <string>

#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

const owner_id asker{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 7}, another_asker{asker.client, 8};

TEST(NumberOfPermits, IsThatOfCuratorsSharedCount) {
    using namespace std::string_literals;
    EXPECT_EQ(capacity_data(258, asker).substr(0, 5), "\0\0\1\2\n"s);
    EXPECT_EQ(capacity_in("\0\0\1\2"s), 258);
    EXPECT_EQ(capacity_in("\0\0\0\0"s), 0);
    EXPECT_EQ(capacity_in("\x7f\xff\xff\xff"), counted_max);
    EXPECT_EQ(capacity_in(capacity_data(3, asker)), 3);
}

TEST(NumberOfPermits, IsNotReadWhereSomethingElseIs) {
    for (const std::string each : {"", "2", "2\n", "127.0.0.1", "\x80\1\1\1"})
        EXPECT_FALSE(capacity_in(each)) << each;
}

TEST(NumberOfPermits, TellsWhichRequestSetIt) {
    EXPECT_TRUE(was_set_by(capacity_data(3, asker), asker));
    EXPECT_FALSE(was_set_by(capacity_data(3, asker), another_asker));
    for (const std::string each : {"", "abc", "abcd", "abcd\n"})
        EXPECT_FALSE(was_set_by(each, asker));
}

} // namespace
} // namespace holdfast::zookeeper
