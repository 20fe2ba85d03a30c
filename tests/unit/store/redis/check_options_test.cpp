// SPDX-License-Identifier: Apache-2.0
// What is refused: tests/redis/store_options_test.cpp.
#include "store/redis/check_options.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

duration replica_timeout_with(duration command_timeout, duration wanted) {
    options how;
    how.command_timeout = command_timeout;
    how.replica_timeout = wanted;
    return checked(how).replica_timeout;
}

TEST(CheckedOptions, TheUsualWaitForReplicasIsNeverMoreThanAThirdOfTheTimeLimit) {
    const duration usual = options{}.replica_timeout;
    EXPECT_EQ(replica_timeout_with(3s, usual), 1s);
    EXPECT_EQ(replica_timeout_with(1h, usual), 1s);
    EXPECT_EQ(replica_timeout_with(600ms, usual), 200ms);
    EXPECT_EQ(replica_timeout_with(2ms, usual), 1ms);
    EXPECT_EQ(replica_timeout_with(600ms, 100ms), 100ms);
}

} // namespace
} // namespace holdfast::redis
