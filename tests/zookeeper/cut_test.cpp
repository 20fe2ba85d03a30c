// SPDX-License-Identifier: Apache-2.0
// A connection that ends somewhere in what is said over it. Whatever was carried out: the lock is
// taken once, and released once, and the line has no other node of ours.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/stream_proxy.hpp"
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

class ZookeeperCut : public ::testing::Test {
protected:
    static void TearDownTestSuite() { server().reset(); }
    void SetUp() override {
        support::make_or_skip([this] {
            if (!server())
                server() = std::make_unique<support::zookeeper_server>();
            proxy_.emplace((server()->folder() / "cut").string(), server()->port());
        });
        if (!proxy_)
            return;
        home_.emplace(client_at({proxy_->socket_path(), 1}));
        other_.emplace(client_at({"127.0.0.1", server()->port()}));
        lock_.emplace(*home_, name_);
        same_.emplace(*other_, name_);
        lock_->lock(); // there is a session from here on
        lock_->unlock();
    }

    /// Cuts after no byte, after `step`, and so on, until `talk` got through uncut.
    template <typename Talk>
    void cut_everywhere(std::size_t step, Talk talk) {
        std::size_t cuts = 0;
        for (bool was_cut = true; was_cut && !HasFailure(); ++cuts) {
            SCOPED_TRACE("cut after byte " + std::to_string(cuts * step));
            was_cut = talk(cuts * step);
        }
        EXPECT_GT(cuts, 5U);
        EXPECT_EQ(told_->count(event_kind::lost), 0U);
    }
    bool lock_cut(way where, std::size_t bytes) {
        proxy_->cut_after(where, bytes);
        lock_->lock();
        const bool was_cut = proxy_->is_cut();
        proxy_->cut_after(way::requests, never);
        EXPECT_GT(lock_->fencing_token(), token_);
        token_ = lock_->fencing_token();
        EXPECT_FALSE(same_->try_lock());
        EXPECT_TRUE(eventually([this] {
            const std::optional<lock_state> now = other_->inspect(name_);
            return now && now->owners.size() == 1 && now->waiters.empty();
        })) << "a node of an attempt that was given up stands in the line";
        lock_->unlock();
        return others_can_have_it() && was_cut;
    }
    bool unlock_cut(way where, std::size_t bytes) {
        lock_->lock();
        proxy_->cut_after(where, bytes);
        error_code failed;
        lock_->unlock(failed);
        EXPECT_FALSE(failed) << failed.message();
        const bool was_cut = proxy_->is_cut();
        proxy_->cut_after(way::requests, never);
        return others_can_have_it() && was_cut;
    }
    bool others_can_have_it() {
        const bool got = same_->try_lock_for(support::far_too_long);
        EXPECT_TRUE(got);
        if (!got)
            return false;
        token_ = same_->fencing_token();
        same_->unlock();
        return true;
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

    static constexpr std::size_t never = 1'000'000'000;
    const std::string name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
    std::optional<support::stream_proxy> proxy_;
    std::optional<client> home_, other_;
    std::optional<fenced_mutex> lock_, same_;
    std::uint64_t token_ = 0;
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
