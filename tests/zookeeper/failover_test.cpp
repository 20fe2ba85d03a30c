// SPDX-License-Identifier: Apache-2.0
// Locks while an ensemble loses its leader.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/zookeeper_ensemble.hpp"

#include <holdfast/holdfast.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <boost/asio/use_future.hpp>

#include <memory>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::soon;
using support::zookeeper_ensemble;

class ZookeeperFailover : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] {
            const zookeeper_ensemble::options how{.lines = {"maxSessionTimeout=30000"}};
            all_ = std::make_unique<zookeeper_ensemble>(support::zookeepers().back(), how);
        });
    }

    client make_client() {
        zookeeper::options at;
        at.servers.clear();
        for (std::size_t i = 0; i < all_->size(); ++i)
            at.servers.push_back({"127.0.0.1", (*all_)[i].port()});
        options how;
        how.store = zookeeper::make_store(std::move(at));
        how.lease_time = 10s;
        return client{std::move(how)};
    }

    /// A number of the leader's that made it: each is greater than all of the one before.
    static std::uint64_t epoch_of(std::uint64_t token) { return token >> 32; }

    std::unique_ptr<zookeeper_ensemble> all_;
};

TEST_F(ZookeeperFailover, ALeaderFailoverKeepsTheLockAndRaisesTheToken) {
    client home = make_client(), other = make_client();
    fenced_mutex first{home, "lock"}, second{other, "lock"};
    lease held = soon(first.async_lock(asio::use_future));
    std::future<lease> waiting = second.async_lock(asio::use_future);
    ASSERT_TRUE(eventually([&] { return home.inspect("lock")->waiters.size() == 1; }));
    all_->leader().stop();
    (void)all_->leader(); // another one
    EXPECT_TRUE(eventually([&] {
        try {
            return home.inspect("lock")->waiters.size() == 1;
        } catch (const boost::system::system_error&) {
            return false; // not there yet
        }
    }));
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(support::is_ready(waiting));
    error_code ec;
    held.unlock(ec);
    EXPECT_FALSE(ec) << ec.message();
    lease next = soon(std::move(waiting));
    EXPECT_GT(next.fencing_token(), held.fencing_token());
    next.unlock(ec);
    EXPECT_FALSE(ec) << ec.message();
    const lease last = soon(first.async_lock(asio::use_future));
    EXPECT_GT(last.fencing_token(), next.fencing_token());
    EXPECT_GT(epoch_of(last.fencing_token()), epoch_of(next.fencing_token()))
        << "it queued before the failover";
}

TEST_F(ZookeeperFailover, AGrantIsSeenAtEachServer) {
    client home = make_client(), other = make_client();
    mutex lock{home, "lock"}, same{other, "lock"};
    for (int i = 0; i < 10; ++i) {
        lock.lock();
        EXPECT_FALSE(same.try_lock());
        lock.unlock();
        EXPECT_TRUE(same.try_lock_for(support::far_too_long));
        same.unlock();
    }
}

} // namespace
} // namespace holdfast
