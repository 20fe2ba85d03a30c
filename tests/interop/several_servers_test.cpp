// SPDX-License-Identifier: Apache-2.0
// Locks of a JVM and of holdfast in a cluster and behind Sentinels: each side sees the holds of the
// other, and the releases of each side wake the other, in each form of publishing.
#include "interop/counter_meeting.hpp"

#include <array>
#include <map>
#include <string>

namespace holdfast::interop {

// A JVM and ours where several servers belong together. Each test plays both ways by itself, for it
// takes a while until a JVM's client is there.

class several_servers : public counter_meeting {
protected:
    using counter_meeting::parked, meeting::parked;

    void SetUp() override {
        meeting::SetUp();
        // The waiters send requests only after notifications.
        have_clients({.lease_time = 10min,
                      .poll_bound = 30min,
                      .waiter_timeout = 1h,
                      .redisson_form = form_of(GetParam().redisson)});
    }

    /// `deed(one, other)` with each side as the one.
    template <typename Deed>
    void in_either_role(Deed deed) {
        for (const bool jvm_is_one : {true, false}) {
            SCOPED_TRACE(jvm_is_one ? "the JVM, then ours" : "ours, then the JVM");
            if (jvm_is_one)
                deed(jvm(), ours());
            else
                deed(ours(), jvm());
        }
    }

    remote_lock lock_of(remote_client& whose, const std::string& actor,
                        const std::string& name = "L") {
        const std::string& getter = GetParam().getter;
        return whose.thread(actor).lock(name, getter == "getReadWriteLock" ? getter + "/writeLock"
                                                                           : getter);
    }

    /// Of the lock's hash, without what says how it is held.
    std::map<std::string, std::string> holders(const std::string& name) {
        std::map<std::string, std::string> all = state_of(keeper_of(name))[name].fields;
        all.erase("mode");
        return all;
    }
    /// As a program would that does not give up: what it asks may be carried out and not be
    /// answered while servers change.
    static void release_in_the_end(remote_lock lock) {
        EXPECT_TRUE(eventually([&] {
            try {
                (void)lock.unlock();
                return true;
            } catch (const peer_failure&) {
                return false;
            }
        }));
    }
    bool is_free(const std::string& name) {
        return keeper_of(name).command({"EXISTS", name}).integer == 0;
    }
};

/// Each in a slot of another server of a cluster.
inline constexpr std::array names_of_three{"a", "b", "c"};

namespace {

using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

class SeveralServersLocks : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersLocks, "getLock", "getFairLock", "getReadWriteLock",
                       "getFencedLock", "getSpinLock");

TEST_P(SeveralServersLocks, AHoldIsAFieldOfItsOwnerAndBusyToTheOtherSide) {
    in_either_role([this](remote_client& one, remote_client& other) {
        for (const std::string name : names_of_three) {
            SCOPED_TRACE(name);
            remote_lock held = lock_of(one, "alice", name), across = lock_of(other, "bob", name);
            held.lock(60s);
            const std::string owner = one.thread("alice").owner();
            EXPECT_THAT(holders(name), UnorderedElementsAre(Pair(StartsWith(owner), "1")));
            const duration left{keeper_of(name).command({"PTTL", name}).integer};
            EXPECT_LE(left, 60s);
            EXPECT_GT(left, 30s);
            EXPECT_FALSE(across.try_lock());
            EXPECT_TRUE(across.is_locked());
            EXPECT_FALSE(across.unlock());
            EXPECT_TRUE(held.unlock());
            EXPECT_TRUE(is_free(name));
            EXPECT_TRUE(across.try_lock());
            EXPECT_FALSE(held.try_lock());
            EXPECT_TRUE(across.unlock());
        }
    });
}

class SeveralServersWaking : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersWaking, "getLock", "getFairLock", "getReadWriteLock",
                       "getFencedLock");
INSTANTIATE_TEST_SUITE_P(Both, SeveralServersWaking, testing::ValuesIn(one_way_in_cluster("both")),
                         name_of);

TEST_P(SeveralServersWaking, AReleaseServesTheOthersWaiter) {
    in_either_role([this](remote_client& one, remote_client& other) {
        remote_lock held = lock_of(one, "alice"), wanted = lock_of(other, "bob");
        held.lock();
        ongoing waiting = parked(other, wanted);
        EXPECT_FALSE(support::is_ready(waiting.answer));
        EXPECT_TRUE(held.unlock());
        (void)soon(std::move(waiting.answer));
        EXPECT_TRUE(wanted.is_held());
        EXPECT_TRUE(wanted.unlock());
        EXPECT_TRUE(is_free("L"));
    });
}

// Counters of a JVM and ours in a cluster and in a Sentinel set: each side counts what the other
// has taken, and is woken by what it gives back.

class SeveralServersSemaphore : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersSemaphore, "getSemaphore");

TEST_P(SeveralServersSemaphore, IsCountedByBothAndServesTheOthersWaiter) {
    in_either_role([this](remote_client& one, remote_client& other) {
        remote_semaphore alice{one.thread("alice")}, bob{other.thread("bob")};
        EXPECT_TRUE(alice.try_set_permits(3));
        EXPECT_FALSE(bob.try_set_permits(7));
        alice.acquire(2);
        expect_number(1);
        EXPECT_EQ(bob.available_permits(), 1);
        EXPECT_FALSE(bob.try_acquire(2));
        ongoing served = parked([&] { return bob.begin_acquire(2); });
        alice.release();
        (void)soon(std::move(served.answer));
        expect_number(0);
        EXPECT_TRUE(alice.erase());
    });
}

class SeveralServersLatch : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersLatch, "getCountDownLatch");

TEST_P(SeveralServersLatch, IsCountedByBothAndOpensForTheOther) {
    in_either_role([this](remote_client& one, remote_client& other) {
        remote_latch alice{one.thread("alice")}, bob{other.thread("bob")};
        EXPECT_TRUE(alice.try_set_count(2));
        EXPECT_FALSE(bob.try_set_count(7));
        bob.count_down();
        expect_number(1);
        EXPECT_EQ(alice.count(), 1);
        ongoing passed = parked([&] { return bob.begin_wait(); });
        alice.count_down();
        (void)soon(std::move(passed.answer));
        expect_nothing();
    });
}

class SeveralServersPermits : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersPermits, "getPermitExpirableSemaphore");

TEST_P(SeveralServersPermits, OfOneSideAreReleasedByTheOtherAndServeItsWaiter) {
    in_either_role([this](remote_client& one, remote_client& other) {
        remote_permits alice{one.thread("alice")}, bob{other.thread("bob")};
        remote_permits anne{one.thread("anne")};
        EXPECT_TRUE(alice.try_set_permits(1));
        const std::string held = alice.acquire(1h);
        EXPECT_EQ(bob.available_permits(), 0);
        EXPECT_FALSE(bob.try_acquire());
        ongoing served = parked([&] { return bob.begin_acquire(1h); });
        EXPECT_TRUE(anne.try_release(held));
        const auto id = json::value_to<std::string>(soon(std::move(served.answer)));
        EXPECT_EQ(alice.available_permits(), 0);
        EXPECT_TRUE(alice.try_release(id));
        EXPECT_EQ(bob.available_permits(), 1);
        EXPECT_TRUE(alice.erase());
    });
}

class SeveralServersRate : public several_servers {};
HOLDFAST_IN_TOPOLOGIES(SeveralServersRate, "getRateLimiter");

TEST_P(SeveralServersRate, IsDrawnFromByBothAndNeverExceeded) {
    in_either_role([this](remote_client& one, remote_client& other) {
        remote_rate alice{one.thread("alice")}, bob{other.thread("bob")};
        EXPECT_TRUE(alice.try_set_rate({"OVERALL", 3, 1h}));
        EXPECT_FALSE(bob.try_set_rate({"OVERALL", 7, 1h}));
        EXPECT_TRUE(alice.try_acquire());
        EXPECT_TRUE(bob.try_acquire(2));
        for (remote_rate* each : {&alice, &bob}) {
            EXPECT_EQ(each->available_permits(), 0);
            EXPECT_FALSE(each->try_acquire());
        }
        EXPECT_TRUE(alice.erase());
    });
}

// A JVM and ours hold and wait while another server becomes the primary: both holds go on, and what
// the one releases afterwards is the other's. For how long a JVM cannot do anything after a
// failover is Redisson's own matter, and is waited for.

class SeveralServersFailover : public several_servers {
protected:
    /// What is asked about one slot: of a cluster, two names that another server gets together.
    static constexpr const char* theirs = "{L}:theirs";
    static constexpr const char* of_ours = "{L}:ours";

    void SetUp() override {
        meeting::SetUp();
        // Long enough for any failover. A JVM that misses a message asks when the lease would end.
        have_clients({.lease_time = 12s, .poll_bound = 1h});
    }

    void expect_holds_to_outlive(fall how) {
        remote_lock held_by_jvm = jvm().thread("alice").lock(theirs);
        remote_lock held_by_ours = ours().thread("bob").lock(of_ours);
        remote_lock wanted_by_jvm = jvm().thread("anne").lock(of_ours);
        remote_lock wanted_by_ours = ours().thread("ben").lock(theirs);
        held_by_jvm.lock();
        held_by_ours.lock();
        ongoing waiting_jvm = parked(jvm(), wanted_by_jvm);
        ongoing waiting_ours = parked(ours(), wanted_by_ours);
        const auto before = std::pair{holders(theirs), holders(of_ours)};
        servers().replicate("L");
        support::redis_server& old = server();
        servers().replace_keeper_of("L", how);
        ASSERT_NE(&server(), &old);
        EXPECT_EQ((std::pair{holders(theirs), holders(of_ours)}), before);

        // Ours listens where the lock is now, and hears the JVM.
        EXPECT_TRUE(eventually([this] { return waiters(theirs) > 0; }));
        EXPECT_FALSE(support::is_ready(waiting_ours.answer));
        release_in_the_end(held_by_jvm);
        (void)soon(std::move(waiting_ours.answer));
        EXPECT_TRUE(wanted_by_ours.is_held());
        EXPECT_TRUE(wanted_by_ours.unlock());

        EXPECT_FALSE(support::is_ready(waiting_jvm.answer));
        EXPECT_TRUE(held_by_ours.is_held());
        EXPECT_TRUE(held_by_ours.unlock());
        (void)soon(std::move(waiting_jvm.answer));
        release_in_the_end(wanted_by_jvm);
        EXPECT_TRUE(is_free(theirs) && is_free(of_ours));
    }
};
HOLDFAST_IN_TOPOLOGIES(SeveralServersFailover, "getLock");

TEST_P(SeveralServersFailover, HoldsOfBothSidesOutliveAKilledPrimary) {
    expect_holds_to_outlive(fall::killed);
}

TEST_P(SeveralServersFailover, HoldsOfBothSidesOutliveAnOrderedFailover) {
    if (GetParam().where == topology::cluster && !is_at_least(GetParam().redisson, 3, 22))
        return; // it asks the old primary for more than a minute
    expect_holds_to_outlive(fall::ordered);
}

// JVMs of before and after 3.22 in one cluster do not hear each other. With `pubsub=both`, ours are
// heard by both and hear both.

/// Each with the oldest version too.
class SeveralServersFleet : public several_servers {
protected:
    void SetUp() override {
        several_servers::SetUp();
        if (!IsSkipped() && !HasFatalFailure())
            elder_ = client_of(shared_jvm(redisson_versions().front()), true);
    }
    remote_client& elder() { return *elder_; }

private:
    std::unique_ptr<remote_client> elder_;
};
std::vector<setting> with_sharded_messages() {
    std::vector<setting> all = one_way_in_cluster("both");
    std::erase_if(all, [](const setting& each) {
        return !each.redisson.empty() && !is_at_least(each.redisson, 3, 22);
    });
    return all;
}
INSTANTIATE_TEST_SUITE_P(Cluster, SeveralServersFleet, testing::ValuesIn(with_sharded_messages()),
                         name_of);

TEST_P(SeveralServersFleet, OurReleaseServesJvmsThatListenInEitherWay) {
    for (remote_client* jvm_of_either : {&elder(), &jvm()}) {
        remote_lock held = ours().thread("alice").lock("L");
        remote_lock wanted = jvm_of_either->thread("bob").lock("L");
        held.lock();
        ongoing waiting = parked(*jvm_of_either, wanted);
        EXPECT_TRUE(held.unlock());
        (void)soon(std::move(waiting.answer));
        EXPECT_TRUE(wanted.unlock());
    }
}

TEST_P(SeveralServersFleet, OursAreServedByJvmsThatTellInEitherWay) {
    int round = 0;
    for (remote_client* jvm_of_either : {&elder(), &jvm()}) {
        const std::string name = "{L}" + std::to_string(++round); // nobody listens there yet
        remote_lock held = jvm_of_either->thread("alice").lock(name);
        remote_lock wanted = ours().thread("bob").lock(name);
        held.lock();
        ongoing waiting = parked(ours(), wanted);
        EXPECT_TRUE(held.unlock());
        (void)soon(std::move(waiting.answer));
        EXPECT_TRUE(wanted.unlock());
    }
}

// A JVM and ours hold and wait while the lock's slot goes to another server of a cluster. What JVMs
// miss meanwhile is told in docs/topologies.md; ours miss nothing.

class SeveralServersSlot : public several_servers {
protected:
    void SetUp() override {
        several_servers::SetUp();
        if (!IsSkipped() && !HasFatalFailure()) {
            slot_ = nodes().slot_of("L");
            to_ = &nodes().other_primary(server());
        }
    }
    support::redis_cluster& nodes() { return shared_cluster(GetParam().server); }

    bool is_at_the_target() {
        to_->command({"ASKING"});
        return to_->command({"EXISTS", "L"}).integer == 1;
    }

    int slot_ = 0;
    support::redis_server* to_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Cluster, SeveralServersSlot,
                         testing::ValuesIn(one_way_in(topology::cluster)), name_of);

TEST_P(SeveralServersSlot, AJvmsHoldIsBusyToOursInEachStepAndItsReleaseServesOurWaiter) {
    remote_lock held = jvm().thread("alice").lock("L"), wanted = ours().thread("bob").lock("L");
    const std::unique_ptr<remote_client> third = another(false);
    remote_lock trying = third->thread("carol").lock("L");
    held.lock();
    ongoing waiting = parked(ours(), wanted);
    const auto before = holders("L");
    nodes().begin_move(slot_, *to_);
    EXPECT_FALSE(trying.try_lock());
    nodes().move_keys(slot_, *to_);
    EXPECT_TRUE(is_at_the_target());
    EXPECT_FALSE(trying.try_lock());
    nodes().end_move(slot_, *to_);
    EXPECT_FALSE(trying.try_lock());
    EXPECT_EQ(&server(), to_);
    EXPECT_EQ(holders("L"), before);
    EXPECT_TRUE(eventually([this] { return waiters("L") > 0; }));
    EXPECT_FALSE(support::is_ready(waiting.answer));
    release_in_the_end(held);
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(is_free("L"));
}

TEST_P(SeveralServersSlot, OurHoldIsBusyToAJvmAndIsReleasedBetweenTheServers) {
    remote_lock held = ours().thread("alice").lock("L");
    held.lock();
    EXPECT_FALSE(jvm().thread("bob").lock("L").try_lock());
    nodes().begin_move(slot_, *to_);
    nodes().move_keys(slot_, *to_);
    EXPECT_TRUE(is_at_the_target());
    EXPECT_TRUE(held.unlock());
    EXPECT_FALSE(is_at_the_target());
    held.lock();
    EXPECT_TRUE(is_at_the_target());
    nodes().end_move(slot_, *to_);
    // 3.13.6 goes on looking for it where it was, for more than half a minute.
    const std::unique_ptr<remote_client> newcomer = another(true);
    remote_lock across = newcomer->thread("carol").lock("L");
    EXPECT_FALSE(across.try_lock());
    EXPECT_TRUE(held.unlock());
    EXPECT_TRUE(across.try_lock());
    EXPECT_TRUE(across.unlock());
}

} // namespace
} // namespace holdfast::interop
