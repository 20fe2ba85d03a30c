// SPDX-License-Identifier: Apache-2.0
// What the other tests take for granted of the servers that they start.
#include "support/on_each_server.hpp"
#include "support/zookeeper_server.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using support::zookeeper_server;

class ZookeeperServer : public ::testing::TestWithParam<support::server_binary> {
protected:
    void SetUp() override {
        support::make_or_skip([this] { server_ = std::make_unique<zookeeper_server>(GetParam()); });
    }

    std::unique_ptr<zookeeper_server> server_;
};

INSTANTIATE_TEST_SUITE_P(Servers, ZookeeperServer, ::testing::ValuesIn(support::zookeepers()),
                         support::test_name_of);

TEST_P(ZookeeperServer, ServesWhenItIsMadeAndNotWhenItIsStopped) {
    EXPECT_EQ(server_->mode(), "standalone");
    EXPECT_EQ(server_->figures().at("server_state"), "standalone");
    server_->stop();
    EXPECT_FALSE(server_->serves());
    server_->restart();
    EXPECT_TRUE(server_->serves());
}

TEST_P(ZookeeperServer, AnswersNothingWhileItIsPaused) {
    server_->pause();
    EXPECT_EQ(server_->say("ruok"), "");
    server_->resume();
    EXPECT_EQ(server_->say("ruok"), "imok");
}

TEST_P(ZookeeperServer, BeginsAnewWithoutItsData) {
    server_->restart_empty();
    EXPECT_EQ(server_->figures().at("znode_count"), "5") << "only its own";
}

} // namespace
} // namespace holdfast
