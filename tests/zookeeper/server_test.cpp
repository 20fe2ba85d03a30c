// SPDX-License-Identifier: Apache-2.0
// Checks that the ZooKeeper servers of the tests have the properties that other tests rely on.
#include "support/eventually.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"
#include "support/zookeeper_server.hpp"

#include <holdfast/holdfast.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <boost/asio/use_future.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

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

// Checks that the ensembles of the tests have the properties that other tests rely on.

using support::zookeeper_ensemble;

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

// Locks while an ensemble loses its leader.

using namespace std::chrono_literals;
using support::eventually;
using support::soon;

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

// A chroot that is deleted while clients use it.

class DeletedChrootOnServer : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] { server_ = std::make_unique<zookeeper_server>(); });
        if (!server_)
            return;
        hand_.emplace(server_->port());
        hand_->make("/team", zookeeper::node_mode::persistent);
        zookeeper::options at;
        at.servers = {{"127.0.0.1", server_->port()}};
        at.chroot = "/team";
        options how;
        how.store = zookeeper::make_store(std::move(at));
        how.observer = told_;
        home_.emplace(std::move(how));
    }

    void delete_chroot() {
        ASSERT_TRUE(eventually([this] {
            hand_->erase("/team");
            return !hand_->get("/team");
        }));
    }

    std::unique_ptr<zookeeper_server> server_;
    std::optional<support::zookeeper_hand> hand_;
    const std::shared_ptr<support::recorder> told_ = std::make_shared<support::recorder>();
    std::optional<client> home_;
};

TEST_F(DeletedChrootOnServer, EachVerbReportsIt) {
    mutex lock{*home_, "lock"};
    fenced_mutex fenced{*home_, "fenced"};
    shared_mutex shared{*home_, "shared"};
    leased_semaphore seats{*home_, "seats"};
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
    EXPECT_TRUE(seats.try_set_permits(1));
    delete_chroot();
    const std::vector<std::function<void()>> verbs{
        [&] { lock.lock(); },
        [&] { (void)lock.try_lock(); },
        [&] { (void)lock.try_lock_for(1s); },
        [&] { (void)lock.is_locked(); },
        [&] { (void)lock.force_unlock(); },
        [&] { (void)fenced.last_token(); },
        [&] { (void)shared.try_lock(); },
        [&] { (void)shared.try_lock_shared(); },
        [&] { (void)seats.try_acquire(); },
        [&] { (void)seats.available_permits(); },
        [&] { (void)home_->inspect("lock"); },
        [&] { (void)home_->wait_free("lock", 1s); },
    };
    for (std::size_t i = 0; i < verbs.size(); ++i)
        EXPECT_EQ(support::code_of(verbs[i]), store_errc::not_set_up) << i;
    hand_->make("/team", zookeeper::node_mode::persistent);
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST_F(DeletedChrootOnServer, HolderLosesItsHoldBecauseTheStoreRefusesIt) {
    mutex lock{*home_, "lock"};
    lease held = soon(lock.async_lock(asio::use_future));
    delete_chroot();
    EXPECT_TRUE(eventually([&] { return !held.owns_lock(); }));
    EXPECT_TRUE(eventually([&] { return told_->count(event_kind::lost) == 1; }));
    EXPECT_EQ(told_->last(event_kind::lost)->cause, event_cause::refused);
    error_code ec;
    held.unlock(ec);
    EXPECT_EQ(ec, errc::lease_lost);
}

// Kazoo gives a mutex and the writer of a read-write lock nodes of the same name.

class KazoosNodes : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] { server_ = std::make_unique<zookeeper_server>(); });
    }

    client make_client(zookeeper::node_form form) {
        zookeeper::options at;
        at.servers = {{"127.0.0.1", server_->port()}};
        at.form = form;
        options how;
        how.store = zookeeper::make_store(std::move(at));
        return client{std::move(how)};
    }

private:
    std::unique_ptr<zookeeper_server> server_;
};

TEST_F(KazoosNodes, AHeldLockIsReportedAsLockedToEachKindThatItMayBe) {
    client theirs = make_client(zookeeper::node_form::kazoo),
           ours = make_client(zookeeper::node_form::curator);
    mutex held{theirs, "lock"};
    shared_mutex as_pair{ours, "lock"};
    mutex as_mutex{ours, "lock"};
    EXPECT_FALSE(as_pair.is_locked());
    held.lock();
    EXPECT_TRUE(as_pair.is_locked());
    EXPECT_TRUE(as_mutex.is_locked());
    EXPECT_FALSE(as_pair.try_lock());
    EXPECT_FALSE(as_mutex.try_lock());
    held.unlock();
    EXPECT_FALSE(as_pair.is_locked());
    EXPECT_TRUE(as_pair.try_lock());
    as_pair.unlock();
}

} // namespace
} // namespace holdfast
