// SPDX-License-Identifier: Apache-2.0
// What becomes of holds, waits and releases while a slot goes to another server, step by step.
#include "support/eventually.hpp"
#include "support/on_each_topology.hpp"
#include "support/recorder.hpp"
#include "support/redis_cluster.hpp"

#include <holdfast/holdfast.hpp>

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

class ClusterSlots : public support::on_each_topology<redis_cluster> {
protected:
    enum class step { open, sent, closed };
    static constexpr std::array steps{step::open, step::sent, step::closed};

    void SetUp() override {
        on_each_topology::SetUp();
        if (IsSkipped())
            return;
        client_ = std::make_unique<client>(how());
        aim("slot");
    }

    holdfast::options how(duration lease = 10s) {
        holdfast::options made;
        made.store = redis::make_store(servers().client_options());
        made.lease_time = lease;
        made.observer = seen_;
        return made;
    }

    /// Of which slot is spoken from now on.
    void aim(const std::string& name) {
        slot_ = servers().slot_of(name);
        from_ = &servers().primary_of(slot_);
        to_ = &servers().other_primary(*from_);
    }
    void go(step to) {
        servers().begin_move(slot_, *to_);
        if (to != step::open)
            servers().move_keys(slot_, *to_);
        if (to == step::closed)
            servers().end_move(slot_, *to_);
    }
    void come_back() {
        servers().call_off_moves();
        servers().wait_until_agreed();
    }

    static std::int64_t at(redis_server& server, const std::string& verb, const std::string& key) {
        server.command({"ASKING"});
        return server.command({verb, key}).integer;
    }
    /// Wherever it is.
    std::int64_t left(const std::string& name) {
        return std::max(at(*from_, "PTTL", name), at(*to_, "PTTL", name));
    }
    std::int64_t exists(const std::string& name) {
        return at(*from_, "EXISTS", name) + at(*to_, "EXISTS", name);
    }
    static std::int64_t listeners(redis_server& server, const std::string& channel) {
        return server.command({"PUBSUB", "SHARDNUMSUB", channel}).items.at(1).integer;
    }
    testing::AssertionResult renewed(const std::string& name, std::int64_t lease) {
        const bool fell = eventually([&] { return left(name) < lease * 3 / 4; });
        const bool rose = fell && eventually([&] { return left(name) > lease * 4 / 5; });
        return rose ? testing::AssertionSuccess()
                    : testing::AssertionFailure() << name << " has " << left(name) << " ms left";
    }

    const std::shared_ptr<support::recorder> seen_ = std::make_shared<support::recorder>();
    std::unique_ptr<client> client_;
    int slot_ = 0;
    redis_server *from_ = nullptr, *to_ = nullptr;
};
HOLDFAST_ON_EACH_SERVER(ClusterSlots);

TEST_P(ClusterSlots, AHoldIsRenewedAndReleasedInEachStep) {
    client hurried{how(1500ms)};
    for (const step each : steps) {
        aim("slot");
        mutex lock{hurried, "slot"};
        lock.lock();
        go(each);
        EXPECT_TRUE(renewed("slot", 1500)) << static_cast<int>(each);
        EXPECT_TRUE(lock.is_held_by_this_thread());
        error_code failed;
        lock.unlock(failed);
        EXPECT_FALSE(failed) << failed.message();
        EXPECT_EQ(exists("slot"), 0);
        come_back();
    }
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
}

TEST_P(ClusterSlots, HoldsOfOneSlotAreRenewedWhileTheyAreApart) {
    client hurried{how(1500ms)};
    mutex one{hurried, "{slot}1"}, two{hurried, "{slot}2"};
    one.lock();
    go(step::sent);
    servers().call_off_moves(); // it stays at the target, which has no part of it
    servers().begin_move(slot_, *to_);
    two.lock();
    ASSERT_EQ(at(*to_, "EXISTS", "{slot}1"), 1);
    EXPECT_TRUE(renewed("{slot}1", 1500));
    EXPECT_TRUE(renewed("{slot}2", 1500));
    one.unlock();
    two.unlock();
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
}

TEST_P(ClusterSlots, AFreeLockIsTakenInEachStep) {
    for (const step each : steps) {
        aim("slot");
        mutex lock{*client_, "slot"};
        { const std::scoped_lock before{lock}; }
        go(each);
        lock.lock();
        EXPECT_EQ(exists("slot"), 1);
        lock.unlock();
        EXPECT_EQ(exists("slot"), 0);
        come_back();
    }
}

TEST_P(ClusterSlots, AWaiterIsServedInEachStep) {
    client other{how()};
    for (const step each : steps) {
        aim("slot");
        mutex theirs{other, "slot"}, ours{*client_, "slot"};
        theirs.lock();
        auto waiting = std::async(std::launch::async, [&] {
            ours.lock();
            ours.unlock();
        });
        ASSERT_TRUE(
            eventually([&] { return listeners(*from_, "redisson_lock__channel:{slot}") == 1; }));
        go(each);
        theirs.unlock();
        support::soon(std::move(waiting));
        come_back();
    }
}

TEST_P(ClusterSlots, OneThatBeginsToWaitWhileItMovesIsServed) {
    client other{how()};
    mutex theirs{other, "slot"}, ours{*client_, "slot"};
    theirs.lock();
    go(step::sent);
    auto waiting = std::async(std::launch::async, [&] {
        ours.lock();
        ours.unlock();
    });
    ASSERT_TRUE(
        eventually([&] { return listeners(*from_, "redisson_lock__channel:{slot}") == 1; }));
    theirs.unlock();
    support::soon(std::move(waiting));
}

TEST_P(ClusterSlots, AllKindsGoOnWhereItHasGone) {
    recursive_mutex again{*client_, "{slot}again"};
    fair_mutex fair{*client_, "{slot}fair"};
    shared_mutex shared{*client_, "{slot}shared"};
    fenced_mutex fenced{*client_, "{slot}fenced"};
    spin_mutex spinning{*client_, "{slot}spin"};
    token_mutex token{*client_, "{slot}token"};
    counting_semaphore semaphore{*client_, "{slot}semaphore"};
    leased_semaphore permits{*client_, "{slot}permits"};
    latch gate{*client_, "{slot}latch"};
    rate_limiter rate{*client_, "{slot}rate"};
    again.lock();
    fair.lock();
    shared.lock_shared();
    fenced.lock();
    spinning.lock();
    token.lock();
    semaphore.release(2);
    permits.add_permits(2);
    const lease one = permits.acquire();
    ASSERT_TRUE(gate.try_set_count(2));
    ASSERT_TRUE(rate.try_set_rate({.permits = 5, .per = 1h}));
    go(step::closed);
    again.lock();
    again.unlock();
    again.unlock();
    fair.unlock();
    fair.lock();
    fair.unlock();
    shared.unlock_shared();
    shared.lock();
    shared.unlock();
    fenced.unlock();
    fenced.lock();
    fenced.unlock();
    spinning.unlock();
    token.unlock();
    semaphore.acquire(2);
    EXPECT_FALSE(semaphore.try_acquire());
    EXPECT_TRUE(permits.try_acquire());
    gate.count_down(2);
    EXPECT_TRUE(gate.try_wait());
    EXPECT_TRUE(rate.try_acquire(5));
    EXPECT_FALSE(rate.try_acquire());
    EXPECT_EQ(seen_->count(event_kind::lost), 0U);
}

TEST_P(ClusterSlots, WhatHasSeveralKeysStandsStillWhileItIsOpen) {
    fair_mutex fair{*client_, "slot"};
    fair.lock();
    go(step::open);
    error_code failed;
    fair.unlock(failed);
    EXPECT_EQ(failed, errc::unreachable);
    EXPECT_EQ(exists("slot"), 1);
    come_back();
    fair_mutex next{*client_, "slot"};
    EXPECT_TRUE(next.try_lock_for(30s)); // released behind its caller's back, or over
    next.unlock();
}

TEST_P(ClusterSlots, SeveralLocksMayBeOfSeveralSlots) {
    mutex one{*client_, "a"}, two{*client_, "b"}, three{*client_, "{slot}c"};
    multi_mutex all{one, two, three};
    all.lock();
    go(step::closed);
    EXPECT_TRUE(all.is_held_by_this_thread());
    all.unlock();
    EXPECT_EQ(exists("{slot}c"), 0);
}

TEST_P(ClusterSlots, ANameThatWouldBeTornApartIsRefused) {
    for (const char* name : {"a{b", "a}b", "{}{a}"})
        EXPECT_THROW((mutex{*client_, name}), boost::system::system_error) << name;
    for (const char* name : {"plain", "{tag}", "a{tag}b", "a{b}c{d}"}) {
        mutex lock{*client_, name};
        lock.lock();
        EXPECT_EQ(servers().node_of(name).command({"EXISTS", name}).integer, 1) << name;
        lock.unlock();
    }
}

} // namespace
} // namespace holdfast
