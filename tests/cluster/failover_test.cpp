// SPDX-License-Identifier: Apache-2.0
// What becomes of holds, waits and releases when another server of a cluster takes over.
#include "support/eventually.hpp"
#include "support/on_each_topology.hpp"
#include "support/recorder.hpp"
#include "support/redis_cluster.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include <future>
#include <memory>
#include <string>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::redis_cluster;
using support::redis_server;

class ClusterFailover : public support::on_each_topology<redis_cluster> {
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

    redis_server& keeper(const std::string& name) { return servers().node_of(name); }
    std::int64_t exists(const std::string& name) {
        return keeper(name).command({"EXISTS", name}).integer;
    }
    std::int64_t listeners(const std::string& name) {
        const std::string channel = "redisson_lock__channel:{" + name + "}";
        return keeper(name).command({"PUBSUB", "SHARDNUMSUB", channel}).items.at(1).integer;
    }
    void await_replica(const std::string& name) {
        ASSERT_EQ(keeper(name).command({"WAIT", "1", "5000"}).integer, 1);
    }
    void replace_keeper_of(const std::string& name) {
        servers().failover(servers().replica_of(keeper(name)));
    }

    const std::shared_ptr<support::recorder> seen_ = std::make_shared<support::recorder>();
    std::unique_ptr<client> client_;
};
HOLDFAST_ON_EACH_SERVER(ClusterFailover);

TEST_P(ClusterFailover, LocksAreWhereTheirNamesBelong) {
    for (int i = 0; i < 20; ++i) {
        const std::string name = "lock " + std::to_string(i);
        mutex lock{*client_, name};
        lock.lock();
        EXPECT_EQ(exists(name), 1);
        lock.unlock();
        EXPECT_EQ(exists(name), 0);
    }
}

TEST_P(ClusterFailover, AHoldIsKeptAndReleasedAtTheNewPrimary) {
    mutex lock{*client_, "kept"};
    lock.lock();
    await_replica("kept");
    replace_keeper_of("kept");
    EXPECT_TRUE(eventually([&] { return seen_->count(event_kind::moved) > 0; }));
    EXPECT_TRUE(eventually([&] {
        return keeper("kept").command({"PTTL", "kept"}).integer > 9000; // renewed
    }));
    EXPECT_TRUE(lock.is_held_by_this_thread());
    error_code failed;
    lock.unlock(failed);
    EXPECT_FALSE(failed) << failed.message();
    EXPECT_EQ(exists("kept"), 0);
}

TEST_P(ClusterFailover, AFreeLockIsGrantedWhenAPrimaryWasKilled) {
    mutex lock{*client_, "free"};
    { const std::scoped_lock before{lock}; }
    keeper("free").stop();
    lock.lock();
    EXPECT_EQ(exists("free"), 1);
    lock.unlock();
}

TEST_P(ClusterFailover, AWaiterIsServedByAReleaseAfterIt) {
    client other{how()};
    mutex theirs{other, "waited"}, ours{*client_, "waited"};
    theirs.lock();
    auto waiting = std::async(std::launch::async, [&] {
        ours.lock();
        ours.unlock();
    });
    ASSERT_TRUE(eventually([&] { return listeners("waited") == 1; }));
    replace_keeper_of("waited");
    ASSERT_TRUE(eventually([&] { return listeners("waited") == 1; }));
    theirs.unlock();
    waiting.get();
}

TEST_P(ClusterFailover, AWaiterIsWokenWhereASlotHasMoved) {
    client other{how()};
    mutex theirs{other, "moved"}, ours{*client_, "moved"};
    theirs.lock();
    auto waiting = std::async(std::launch::async, [&] {
        ours.lock();
        ours.unlock();
    });
    ASSERT_TRUE(eventually([&] { return listeners("moved") == 1; }));
    servers().move(servers().slot_of("moved"), servers().other_primary(keeper("moved")));
    ASSERT_TRUE(eventually([&] { return listeners("moved") == 1; }));
    EXPECT_EQ(exists("moved"), 1);
    theirs.unlock();
    waiting.get();
    EXPECT_EQ(exists("moved"), 0);
}

} // namespace
} // namespace holdfast
