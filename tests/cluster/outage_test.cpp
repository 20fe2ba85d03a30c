// SPDX-License-Identifier: Apache-2.0
// Servers of a cluster that hang, are unreachable, or lose all data, and the effects on clients of
// the other servers.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/redis_cluster.hpp"

#include <holdfast/client.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/mutex.hpp>

#include <boost/asio/use_future.hpp>

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

    holdfast::options how(duration lease = 20s) {
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
    /// Waits until whoever keeps it now has renewed it.
    bool is_renewed(const std::string& name) {
        return eventually([&, last = left(name)]() mutable {
            const std::int64_t before = std::exchange(last, left(name));
            return last > before;
        });
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
    EXPECT_TRUE(is_renewed("kept"));
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
    EXPECT_TRUE(is_renewed("kept")) << "nothing tells it but silence";
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
    EXPECT_TRUE(is_renewed("kept"));
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
    auto home = std::make_unique<client>(how(9s));
    mutex theirs{*home, down}, ours{*home, up};
    theirs.lock();
    ours.lock();
    redis_server& primary = keeper(down);
    servers().replica_of(primary).stop();
    primary.pause(); // it hangs, and nobody takes its place
    EXPECT_TRUE(eventually([&] { return seen_->count(event_kind::lost) == 1; }));
    EXPECT_EQ(seen_->last(event_kind::lost)->name, down);
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(is_renewed(up));
    }
    EXPECT_TRUE(ours.is_held_by_this_thread());
    ours.unlock();
    error_code gone;
    theirs.unlock(gone);
    auto closed = std::async(std::launch::async, [&] { home.reset(); });
    support::soon(std::move(closed), 15s);
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

// Holds, waits and releases while another server of a cluster takes over.

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
        made.lease_time = 20s; // so that it outlives a failover on a busy machine
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
    std::int64_t left = keeper("kept").command({"PTTL", "kept"}).integer;
    EXPECT_TRUE(eventually([&] { // it is renewed
        const std::int64_t before =
            std::exchange(left, keeper("kept").command({"PTTL", "kept"}).integer);
        return left > before;
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

// A primary that is cut off from the others, while clients still reach both sides.

using support::soon;
using support::thrown_by;

class IsolatedPrimary : public support::on_each_topology<redis_cluster> {
protected:
    IsolatedPrimary()
        : on_each_topology{{.can_be_cut = true}} {}

    holdfast::options how(unsigned replicas, duration lease = 3s) {
        redis::options where = servers().client_options();
        where.replica_timeout = 100ms;
        holdfast::options made;
        made.store = redis::make_store(where);
        made.lease_time = lease;
        made.required_replicas = replicas;
        made.unavailable_timeout = support::far_too_long;
        made.observer = seen_;
        return made;
    }
    redis_server& keeper() { return servers().node_of("L"); }
    static std::int64_t exists(redis_server& at, const std::string& name) {
        return at.command({"EXISTS", name}).integer;
    }
    void await_replica() { ASSERT_EQ(keeper().command({"WAIT", "1", "5000"}).integer, 1); }
    void isolate() {
        old_ = &keeper();
        servers().cut(*old_, support::partition::clients::pass);
    }
    void await_election() {
        support::until("another keeps it", [&] { return &keeper() != old_; });
    }

    event_cause cause_of_loss() const {
        support::until("a loss is told", [&] { return seen_->count(event_kind::lost) > 0; });
        return seen_->last(event_kind::lost)->cause;
    }

    redis_server* old_ = nullptr;
    const std::shared_ptr<support::recorder> seen_ = std::make_shared<support::recorder>();
};
HOLDFAST_ON_EACH_SERVER(IsolatedPrimary);

TEST_P(IsolatedPrimary, WhatItAloneHasIsLostWhenAnotherIsElectedAndItsHolderIsToldSo) {
    client home{how(0, 30s)}, other{how(0, 30s)};
    mutex known{home, "L"}, alone{home, "{L}alone"}, theirs{other, "{L}alone"};
    const lease kept = soon(known.async_lock(asio::use_future));
    await_replica();
    isolate();
    const lease gone = soon(alone.async_lock(asio::use_future));
    EXPECT_EQ(exists(*old_, "{L}alone"), 1) << "it does not know yet";
    await_election();
    const lease taken = soon(theirs.async_lock(asio::use_future));
    EXPECT_EQ(exists(keeper(), "{L}alone"), 1);
    EXPECT_TRUE(eventually([&] { return gone.lost().stop_requested(); }));
    EXPECT_EQ(cause_of_loss(), event_cause::refused)
        << "the new one says so, and not only the clock";
    EXPECT_FALSE(kept.lost().stop_requested());
    EXPECT_FALSE(taken.lost().stop_requested());
}

TEST_P(IsolatedPrimary, GrantsAndRenewsNothingWhereItsReplicaMustHaveIt) {
    client home{how(1)}, other{how(1)};
    mutex lock{home, "L"}, alone{home, "{L}alone"}, apart{home, "{L}apart"}, theirs{other, "L"};
    const lease held = soon(lock.async_lock(asio::use_future));
    isolate();
    EXPECT_EQ(thrown_by([&] { (void)alone.try_lock(); }).code, errc::outcome_unknown);
    EXPECT_EQ(thrown_by([&] { (void)apart.try_lock(lease_time{1h}); }).code, errc::outcome_unknown);
    auto waiting = theirs.async_lock(asio::use_future);
    await_election(); // and the new one has no replica
    while (!held.lost().stop_requested())
        ASSERT_FALSE(support::is_ready(waiting)) << "there are two holders";
    EXPECT_EQ(cause_of_loss(), event_cause::term_ended);
    EXPECT_FALSE(support::is_ready(waiting));
    servers().heal(); // then the old one is its replica
    const lease next = soon(std::move(waiting));
    EXPECT_EQ(exists(keeper(), "L"), 1);
}

// Until its client asks for the map again, two believe: it renews nothing, and so nobody tells it.
TEST_P(IsolatedPrimary, AFixedLeaseThatItAloneGaveIsLostToo) {
    client home{how(0)}, other{how(0)};
    mutex lock{home, "L"}, theirs{other, "L"};
    isolate();
    const lease given = soon(lock.async_lock(lease_time{1h}, asio::use_future));
    await_election();
    const lease taken = soon(theirs.async_lock(asio::use_future));
    EXPECT_TRUE(eventually([&] { return given.lost().stop_requested(); }));
    EXPECT_EQ(cause_of_loss(), event_cause::refused);
    EXPECT_FALSE(taken.lost().stop_requested());
}

} // namespace
} // namespace holdfast
