// SPDX-License-Identifier: Apache-2.0
#include "redis/survey/replica_lines.hpp"

#include <string>

#include <gmock/gmock.h>

namespace holdfast::redis {
namespace {

TEST(ReplicaLines, AreInInfo) {
    const std::string told = "role:master\r\nconnected_slaves:3\r\n"
                             "slave0:ip=10.0.0.5,port=6380,state=online,offset=1,lag=0\r\n"
                             "slave1:ip=fd00::1,port=6381,state=wait_bgsave,offset=0,lag=0\r\n"
                             "slave2:ip=10.0.0.7,port=0,state=online,offset=0,lag=0\r\n";
    EXPECT_THAT(replicas_in(told), testing::ElementsAre(server_address{"10.0.0.5", 6380},
                                                        server_address{"fd00::1", 6381}));
    EXPECT_EQ(replicas_online_in(told), 2u);
    EXPECT_EQ(replicas_online_in("role:slave\r\n"), 0u);
}

} // namespace
} // namespace holdfast::redis
