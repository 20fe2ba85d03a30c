// SPDX-License-Identifier: Apache-2.0
// Servers of a cluster that hang, are cut off, or lose everything; and what that is to others.
#include "support/eventually.hpp"
#include "support/on_each_topology.hpp"
#include "support/recorder.hpp"
#include "support/redis_cluster.hpp"

#include <holdfast/holdfast.hpp>

#include <future>
#include <memory>
#include <optional>
#include <string>

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using support::redis_cluster;
using support::redis_server;
using election = redis_cluster::election;

class ClusterOutage : public support::on_each_topology<redis_cluster> {
protected:
    ClusterOutage()
        : on_each_topology{
              {.can_be_cut = true, .arguments = {"--cluster-require-full-coverage", "no"}}} {}

    holdfast::options how(duration lease = 10s) {
        holdfast::options made;
        made.store = redis::make_store(servers().client_options());
        made.lease_time = lease;
        made.observer = seen_;
        return made;
    }

    redis_server& keeper(const std::string& name) { return servers().node_of(name); }
    std::int64_t left(const std::string& name) {
        return keeper(name).command({"PTTL", name}).integer;
    }
    void await_replica(const std::string& name) {
        ASSERT_EQ(keeper(name).command({"WAIT", "1", "5000"}).integer, 1);
    }
    void await_another_keeper(const std::string& name, const redis_server& than) {
        support::until("another keeps it", [&] { return &keeper(name) != &than; });
    }
    /// Names that are kept by different servers.
    std::pair<std::string, std::string> two_names() {
        for (int i = 0;; ++i)
            if (std::string other = std::to_string(i); &keeper(other) != &keeper("one"))
                return {"one", other};
    }

    const std::shared_ptr<support::recorder> seen_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(ClusterOutage);

TEST_P(ClusterOutage, AHoldOutlivesElectionsThatThePrimaryDoesNotKnowOf) {
    client home{how()};
    mutex lock{home, "kept"};
    lock.lock();
    await_replica("kept");
    servers().failover(servers().replica_of(keeper("kept")), election::none);
    EXPECT_TRUE(eventually([&] { return seen_->count(event_kind::moved) > 0; }));
    EXPECT_TRUE(eventually([&] { return left("kept") > 9000; }));
    lock.unlock();
    EXPECT_EQ(left("kept"), -2);
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
}

TEST_P(ClusterOutage, AHoldOutlivesAPrimaryThatHangsAndGoesOn) {
    client home{how()}, other{how()};
    mutex lock{home, "kept"}, theirs{other, "kept"};
    lock.lock();
    EXPECT_FALSE(theirs.try_lock());
    await_replica("kept");
    redis_server& old = keeper("kept");
    old.pause();
    await_another_keeper("kept", old);
    EXPECT_TRUE(eventually([&] { return left("kept") > 9000; })) << "nothing tells it but silence";
    old.resume();
    EXPECT_FALSE(theirs.try_lock_for(100ms));
    lock.unlock();
    EXPECT_TRUE(theirs.try_lock_for(10s));
    theirs.unlock();
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
}

TEST_P(ClusterOutage, AHoldOutlivesAPrimaryThatIsCutOff) {
    client home{how()};
    mutex lock{home, "kept"};
    lock.lock();
    await_replica("kept");
    redis_server& old = keeper("kept");
    servers().cut(old);
    await_another_keeper("kept", old);
    EXPECT_TRUE(eventually([&] { return left("kept") > 9000; }));
    lock.unlock();
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
}

TEST_P(ClusterOutage, AWaiterIsServedThoughItsPrimaryHangs) {
    client home{how()}, other{how()};
    mutex ours{home, "waited"}, theirs{other, "waited"};
    theirs.lock();
    await_replica("waited");
    auto waiting = std::async(std::launch::async, [&] {
        ours.lock();
        ours.unlock();
    });
    redis_server& old = keeper("waited");
    support::until("it listens", [&] {
        return old.command({"PUBSUB", "SHARDNUMSUB", "redisson_lock__channel:{waited}"})
                   .items.at(1)
                   .integer == 1;
    });
    old.pause();
    await_another_keeper("waited", old);
    support::until("it listens again", [&] {
        return keeper("waited")
                   .command({"PUBSUB", "SHARDNUMSUB", "redisson_lock__channel:{waited}"})
                   .items.at(1)
                   .integer == 1;
    });
    theirs.unlock();
    support::soon(std::move(waiting));
}

TEST_P(ClusterOutage, AShardThatIsDownTakesNoOtherHoldsAlong) {
    const auto [down, up] = two_names();
    auto home = std::make_unique<client>(how(2s));
    mutex theirs{*home, down}, ours{*home, up};
    theirs.lock();
    ours.lock();
    redis_server& primary = keeper(down);
    servers().replica_of(primary).stop();
    primary.pause(); // it hangs, and nobody takes its place
    EXPECT_TRUE(eventually([&] { return seen_->count(event_kind::lost) == 1; }));
    EXPECT_EQ(seen_->last(event_kind::lost)->name, down);
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(eventually([&] { return left(up) < 1500; }));
        EXPECT_TRUE(eventually([&] { return left(up) > 1600; })) << "renewed";
    }
    EXPECT_TRUE(ours.is_held_by_this_thread());
    ours.unlock();
    error_code gone;
    theirs.unlock(gone);
    auto closed = std::async(std::launch::async, [&] { home.reset(); });
    support::soon(std::move(closed), 5s);
}

TEST_P(ClusterOutage, WhatAServerLostIsToldAtOnce) {
    client home{how(1h)};
    mutex lock{home, "kept"};
    lock.lock();
    keeper("kept").restart_empty();
    EXPECT_TRUE(eventually([&] { return seen_->count(event_kind::lost) == 1; }));
    EXPECT_FALSE(lock.is_held_by_this_thread());
}

TEST_P(ClusterOutage, TheNodesThatTheSeedsNamedAreKnownWithoutThem) {
    holdfast::options made = how();
    redis::options one_seed = servers().client_options();
    redis_server& seed = servers().replica_of(servers().other_primary(keeper("free")));
    one_seed.cluster->addresses = {{"localhost", servers().port_of(seed)}};
    made.store = redis::make_store(one_seed);
    client home{made};
    mutex lock{home, "free"};
    { const std::scoped_lock before{lock}; }
    seed.stop();
    keeper("free").stop();
    EXPECT_TRUE(lock.try_lock_for(20s));
    lock.unlock();
}

TEST_P(ClusterOutage, CountersGoOnWithTheNextPrimary) {
    client home{how()};
    counting_semaphore semaphore{home, "counted"};
    semaphore.release(2);
    semaphore.acquire();
    await_replica("counted");
    keeper("counted").stop();
    EXPECT_TRUE(semaphore.try_acquire_for(20s));
    EXPECT_FALSE(semaphore.try_acquire());
    semaphore.release();
    EXPECT_EQ(keeper("counted").command({"GET", "counted"}).text, "1");
}

TEST_P(ClusterOutage, AWaitForAShardThatIsDownCanBeCalledOff) {
    client home{how()};
    mutex lock{home, "free"};
    { const std::scoped_lock before{lock}; }
    redis_server& primary = keeper("free");
    servers().replica_of(primary).stop();
    primary.stop();
    std::stop_source enough;
    auto waiting = std::async(std::launch::async, [&] {
        try {
            lock.lock(enough.get_token());
        } catch (const boost::system::system_error& why) {
            return why.code();
        }
        return error_code{};
    });
    enough.request_stop();
    EXPECT_TRUE(support::soon(std::move(waiting)));
}

TEST_P(ClusterOutage, RequiredReplicasConfirmInACluster) {
    holdfast::options made = how();
    made.required_replicas = 1;
    client home{made};
    mutex lock{home, "sure"};
    lock.lock();
    redis_server& replica = servers().replica_of(keeper("sure"));
    replica.command({"READONLY"});
    EXPECT_EQ(replica.command({"EXISTS", "sure"}).integer, 1);
    lock.unlock();
    replica.stop();
    try {
        (void)lock.try_lock();
        ADD_FAILURE() << "nobody confirmed it";
    } catch (const boost::system::system_error& why) {
        EXPECT_EQ(why.code(), store_errc::not_replicated);
    }
}

} // namespace
} // namespace holdfast
