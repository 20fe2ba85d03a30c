// SPDX-License-Identifier: Apache-2.0
// What the other tests take for granted of the servers that they start.
#include "support/on_each_server.hpp"
#include "support/zookeeper_server.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using support::zookeeper_server;

class ZookeeperServer : public ::testing::Test {
protected:
    zookeeper_server& start(zookeeper_server::options how = {}) {
        return *(server_ = std::make_unique<zookeeper_server>(support::zookeeper(), how));
    }
    void SetUp() override {
        support::make_or_skip([this] { start(); });
    }

    std::unique_ptr<zookeeper_server> server_;
};

TEST_F(ZookeeperServer, ServesWhenItIsMadeAndNotWhenItIsStopped) {
    EXPECT_EQ(server_->mode(), "standalone");
    EXPECT_EQ(server_->figures().at("server_state"), "standalone");
    server_->stop();
    EXPECT_FALSE(server_->serves());
    server_->restart();
    EXPECT_TRUE(server_->serves());
}

TEST_F(ZookeeperServer, AnswersNothingWhileItIsPaused) {
    server_->pause();
    EXPECT_EQ(server_->say("ruok"), "");
    server_->resume();
    EXPECT_EQ(server_->say("ruok"), "imok");
}

TEST_F(ZookeeperServer, BeginsAnewWithoutItsData) {
    server_->restart_empty();
    EXPECT_EQ(server_->figures().at("znode_count"), "5") << "only its own";
}

} // namespace
} // namespace holdfast
