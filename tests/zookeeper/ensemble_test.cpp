// SPDX-License-Identifier: Apache-2.0
// What the other tests take for granted of the ensembles that they start.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/zookeeper_ensemble.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using support::zookeeper_ensemble;
using support::zookeeper_server;

class ZookeeperEnsemble : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] { all_ = std::make_unique<zookeeper_ensemble>(); });
    }

    std::unique_ptr<zookeeper_ensemble> all_;
};

TEST_F(ZookeeperEnsemble, ElectsAnotherLeaderWhereOneIsKilledAndTakesItBack) {
    zookeeper_server& first = all_->leader();
    first.stop();
    EXPECT_NE(&all_->leader(), &first);
    all_->restore();
    EXPECT_EQ(first.mode(), "follower");
}

TEST_F(ZookeeperEnsemble, LeavesALeaderThatIsCutOffAlone) {
    zookeeper_server& first = all_->leader();
    all_->cut_off(first);
    zookeeper_server& second = all_->leader_without(first);
    EXPECT_EQ(second.mode(), "leader");
    EXPECT_TRUE(support::eventually([&] { return !first.serves(); })) << "it gave up";
    all_->restore();
    EXPECT_EQ(first.mode(), "follower");
}

} // namespace
} // namespace holdfast
