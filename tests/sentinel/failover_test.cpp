// SPDX-License-Identifier: Apache-2.0
// What becomes of holds, waits and releases when the Sentinels appoint another primary.
#include "support/eventually.hpp"
#include "support/on_each_topology.hpp"
#include "support/recorder.hpp"
#include "support/redis_sentinels.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <boost/asio/use_future.hpp>

#include <future>
#include <memory>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::redis_sentinels;
using support::redis_server;

class SentinelFailover : public support::on_each_topology<redis_sentinels> {
protected:
    void SetUp() override {
        on_each_topology::SetUp();
        if (!IsSkipped())
            client_ = std::make_unique<client>(how());
    }

    holdfast::options how() {
        holdfast::options made;
        made.store = redis::make_store(servers().client_options());
        made.lease_time = 10s;
        made.observer = seen_;
        return made;
    }

    /// At the primary.
    std::int64_t listeners(const std::string& name) {
        const std::string channel = "redisson_lock__channel:{" + name + "}";
        return servers().primary().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer;
    }

    bool told(event_kind kind) {
        return eventually([&] { return seen_->count(kind) > 0; });
    }

    const std::shared_ptr<support::recorder> seen_ = std::make_shared<support::recorder>();
    std::unique_ptr<client> client_;
};
HOLDFAST_ON_EACH_SERVER(SentinelFailover);

TEST_P(SentinelFailover, AHoldIsKeptAndReleasedAtTheNewPrimary) {
    mutex lock{*client_, "kept"};
    lock.lock();
    ASSERT_EQ(servers().primary().command({"WAIT", "2", "5000"}).integer, 2);
    servers().failover();
    ASSERT_TRUE(told(event_kind::moved));
    EXPECT_TRUE(eventually([&] {
        return servers().primary().command({"PTTL", "kept"}).integer > 9000; // renewed
    }));
    EXPECT_TRUE(lock.is_held_by_this_thread());
    error_code failed;
    lock.unlock(failed);
    EXPECT_FALSE(failed) << failed.message();
    EXPECT_EQ(servers().primary().command({"EXISTS", "kept"}).integer, 0);
}

TEST_P(SentinelFailover, AFreeLockIsGrantedWhenAPrimaryWasKilled) {
    mutex lock{*client_, "free"};
    { const std::scoped_lock before{lock}; }
    servers().primary().stop();
    lock.lock();
    EXPECT_EQ(servers().primary().command({"EXISTS", "free"}).integer, 1);
    lock.unlock();
    EXPECT_GE(seen_->count(event_kind::moved), 1u);
}

TEST_P(SentinelFailover, AWaiterIsServedByAReleaseAfterIt) {
    client other{how()};
    mutex theirs{other, "waited"}, ours{*client_, "waited"};
    theirs.lock();
    auto waiting = std::async(std::launch::async, [&] {
        ours.lock();
        ours.unlock();
    });
    ASSERT_TRUE(eventually([&] { return listeners("waited") == 1; }));
    servers().failover();
    ASSERT_TRUE(eventually([&] { return listeners("waited") == 1; }));
    theirs.unlock();
    waiting.get();
}

} // namespace
} // namespace holdfast
