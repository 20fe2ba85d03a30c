// SPDX-License-Identifier: Apache-2.0
// The line of a lock that is cut has no other node of ours.
#include "support/cut_lock.hpp"
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/zookeeper_server.hpp"

#include <holdfast/holdfast.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <memory>
#include <optional>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using support::eventually;
using support::way;

class ZookeeperCut : public ::testing::Test, protected support::cut_lock {
protected:
    ZookeeperCut()
        : cut_lock{support::far_too_long} {}

    static void TearDownTestSuite() { server().reset(); }
    void SetUp() override {
        support::make_or_skip([this] {
            if (!server())
                server() = std::make_unique<support::zookeeper_server>();
            proxy_.emplace((server()->folder() / "cut").string(), server()->port());
        });
        if (proxy_)
            use(client_at({proxy_->socket_path(), 1}), client_at({"127.0.0.1", server()->port()}),
                name_);
    }
    void look_at_held() override {
        EXPECT_TRUE(eventually([this] {
            const std::optional<lock_state> now = other().inspect(name_);
            return now && now->owners.size() == 1 && now->waiters.empty();
        })) << "a node of an attempt that was given up stands in the line";
    }

private:
    client client_at(server_address where) const {
        zookeeper::options at;
        at.servers = {std::move(where)};
        at.backoff_max = duration{50};
        options how;
        how.store = zookeeper::make_store(std::move(at));
        how.observer = told_;
        return client{std::move(how)};
    }
    /// Of all tests here.
    static std::unique_ptr<support::zookeeper_server>& server() {
        static std::unique_ptr<support::zookeeper_server> one;
        return one;
    }

    const std::string name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ZookeeperCut, ALockThatIsAskedForIsTakenOnce) {
    cut_everywhere(7, [this](std::size_t bytes) { return lock_cut(way::requests, bytes); });
}
TEST_F(ZookeeperCut, ALockThatIsGrantedIsTakenOnce) {
    cut_everywhere(7, [this](std::size_t bytes) { return lock_cut(way::answers, bytes); });
}
TEST_F(ZookeeperCut, AReleaseThatIsAskedForIsDone) {
    cut_everywhere(7, [this](std::size_t bytes) { return unlock_cut(way::requests, bytes); });
}
TEST_F(ZookeeperCut, AReleaseThatIsAcknowledgedIsDone) {
    cut_everywhere(3, [this](std::size_t bytes) { return unlock_cut(way::answers, bytes); });
}

} // namespace
} // namespace holdfast
