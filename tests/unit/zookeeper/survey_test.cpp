// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/survey.hpp"

#include <gtest/gtest.h>

namespace holdfast::zookeeper {
namespace {

server_seen read(std::string_view answer) {
    server_seen seen;
    read_facts(answer, seen);
    return seen;
}

TEST(Survey, ReadsWhatAServerSaysOfItself) {
    const server_seen seen =
        read("Zookeeper version: 3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022\n"
             "Latency min/avg/max: 0/0.5/12\nReceived: 7\nSent: 6\nConnections: 1\n"
             "Outstanding: 0\nZxid: 0x300000002\nMode: leader\nNode count: 5\n"
             "Proposal sizes last/min/max: 48/48/36\n");
    EXPECT_EQ(seen.trouble, "");
    EXPECT_EQ(seen.version, "3.8.0");
    EXPECT_EQ(seen.role, "leader");
    EXPECT_EQ(seen.epoch, 3);
}

TEST(Survey, KnowsNothingOfAServerThatMayNotSay) {
    for (const char* answer :
         {"srvr is not executed because it is not in the whitelist.\n", "", "Mode", "\n",
          "no Mode: leader at the beginning", "Zxid: 0x\n", "Zxid: 0xfffffffffffffffff\n"}) {
        const server_seen seen = read(answer);
        EXPECT_EQ(seen.trouble + seen.role + seen.version, "") << answer;
        EXPECT_EQ(seen.epoch, 0) << answer;
    }
}

TEST(Survey, AServerWithoutAMajorityServesNobody) {
    EXPECT_NE(read("This ZooKeeper instance is not currently serving requests\n").trouble, "");
}

} // namespace
} // namespace holdfast::zookeeper
