// SPDX-License-Identifier: Apache-2.0
// Redisson's MultiLock and holdfast's multi_mutex: three locks on three servers, taken as one.
#include "interop/council.hpp"

#include <array>
#include <atomic>
#include <thread>

namespace holdfast::interop {
namespace {

class Multi : public council {
protected:
    Multi()
        : council{3, "RedissonMultiLock"} {}

    static std::vector<member> members() { return {{0, "A"}, {1, "B"}, {2, "C"}}; }
    remote_lock lock_of(delegation& whose, const std::string& actor) {
        return whose.all(actor, members());
    }
};
HOLDFAST_COUNCIL(Multi, redissons());

TEST_P(Multi, AHeldOneIsBusyToTheOtherSideAndSoIsEachOfItsMembers) {
    remote_lock held = lock_of(first(), "alice"), across = lock_of(second(), "bob");
    for (const bool leased : {false, true}) {
        leased ? held.lock(60s) : held.lock();
        EXPECT_EQ(keys(), 3);
        EXPECT_FALSE(across.try_lock());
        for (const member& each : members()) {
            EXPECT_FALSE(second().one("carol", each).try_lock()) << each.name;
            const duration left{server(each.server).command({"PTTL", each.name}).integer};
            EXPECT_LE(left, leased ? 60s : 10s) << each.name;
            EXPECT_GT(left, leased ? 30s : 0s) << each.name;
        }
        EXPECT_EQ(keys(), 3);
        EXPECT_TRUE(held.unlock());
        EXPECT_TRUE(eventually([&] { return keys() == 0; }));
    }
    EXPECT_TRUE(across.try_lock());
    EXPECT_FALSE(held.try_lock());
    EXPECT_TRUE(across.unlock());
    EXPECT_TRUE(eventually([&] { return keys() == 0; }));
}

TEST_P(Multi, AReleaseLetsTheOthersWaiterIn) {
    have_clients({.lease_time = 10s, .poll_bound = 1h});
    remote_lock held = lock_of(first(), "alice"), wanted = lock_of(second(), "bob");
    held.lock();
    ongoing waiting = wanted.begin_lock();
    ASSERT_TRUE(eventually([&] { // somewhere it listens
        for (std::size_t i = 0; i < size(); ++i)
            if (!server(i).command({"PUBSUB", "CHANNELS"}).items.empty())
                return true;
        return false;
    }));
    EXPECT_FALSE(support::is_ready(waiting.answer));
    EXPECT_TRUE(held.unlock());
    (void)patiently(std::move(waiting));
    EXPECT_EQ(keys(), 3);
    EXPECT_TRUE(wanted.unlock());
}

TEST_P(Multi, ABusyMemberKeepsItAndNothingElse) {
    remote_lock between = second().one("carol", {1, "B"});
    remote_lock wanted = lock_of(first(), "alice");
    between.lock();
    EXPECT_FALSE(wanted.try_lock());
    EXPECT_TRUE(eventually([&] { return keys() == 1; })) << "what was granted is given back";
    ongoing waiting = wanted.begin_lock();
    EXPECT_TRUE(between.unlock());
    (void)patiently(std::move(waiting));
    EXPECT_EQ(keys(), 3);
    EXPECT_TRUE(wanted.unlock());
}

TEST_P(Multi, AMemberTakenAwayIsTheOthersAndTheHolderIsTold) {
    remote_lock held = lock_of(first(), "alice"), taken = second().one("bob", {1, "B"});
    held.lock();
    EXPECT_TRUE(taken.force_unlock());
    EXPECT_TRUE(taken.try_lock());
    // Ours gives the others back when it learns of the loss; a JVM knows nothing until it releases.
    if (!first().is_jvm()) {
        EXPECT_TRUE(eventually([&] { return keys() == 1; }));
    }
    EXPECT_FALSE(held.unlock());
    // A JVM of 3.52 stops at the member that is gone: it keeps those behind it, and renews them.
    if (first().is_jvm()) {
        (void)second().one("bob", {2, "C"}).force_unlock();
    }
    EXPECT_TRUE(eventually([&] { return keys() == 1; }));
    EXPECT_TRUE(taken.unlock());
}

TEST_P(Multi, AKilledHoldersLocksAreTheOthersWhenTheirLeasesEnd) {
    have_clients({.lease_time = 3s});
    const std::unique_ptr<peer> doomed = new_process(others_are_first());
    const std::unique_ptr<delegation> its = delegation_of(*doomed, others_are_first());
    remote_lock wanted = lock_of(second(), "bob");
    lock_of(*its, "alice").lock();
    ASSERT_FALSE(wanted.try_lock());
    ongoing waiting = wanted.begin_lock();
    doomed->kill();
    std::vector<std::chrono::microseconds> ends;
    for (const member& each : members())
        ends.emplace_back(
            duration{server(each.server).command({"PEXPIRETIME", each.name}).integer});
    (void)patiently(std::move(waiting));
    EXPECT_EQ(ended(ends), 3U);
    EXPECT_TRUE(wanted.unlock());
}

/// Five who think, and take two forks to eat: a JVM and four of ours, every other one left-handed.
class Philosophers : public Multi {
protected:
    static constexpr std::size_t seats = 5, meals = 30;
    static constexpr duration bite = 2ms; // so that two who both had a fork would be seen

    void dine(std::size_t seat, delegation& who, std::size_t times) {
        std::size_t left = seat, right = (seat + 1) % seats;
        if (seat % 2 == 1)
            std::swap(left, right);
        const auto fork = [this](std::size_t which) {
            return member{which % size(), "fork " + std::to_string(which)};
        };
        remote_lock both = who.all("philosopher", {fork(left), fork(right)});
        for (std::size_t meal = 0; meal < times; ++meal) {
            both.lock();
            for (const std::size_t each : {left, right})
                if (in_use_[each].exchange(true))
                    ++shared_;
            std::this_thread::sleep_for(bite);
            for (const std::size_t each : {left, right})
                in_use_[each] = false;
            if (!both.unlock())
                ++lost_;
            ++eaten_;
        }
    }

    std::array<std::atomic<bool>, seats> in_use_{};
    std::atomic<std::size_t> shared_ = 0, lost_ = 0, eaten_ = 0;
};
HOLDFAST_COUNCIL(Philosophers, in_one_role(redissons()));

TEST_P(Philosophers, AllEatAndNobodySharesAFork) {
    std::vector<std::unique_ptr<peer>> processes;
    std::vector<std::unique_ptr<delegation>> guests;
    for (std::size_t seat = 1; seat < seats; ++seat) {
        processes.push_back(new_process(false));
        guests.push_back(delegation_of(*processes.back(), false));
    }
    dine(0, others(), 1); // so that nobody has eaten before the JVM is awake
    std::atomic<std::size_t> failed = 0;
    const auto guarded = [&](std::size_t seat, delegation& who) {
        try {
            dine(seat, who, meals);
        } catch (const std::exception& failure) {
            std::cerr << "philosopher " << seat << ": " << failure.what() << std::endl;
            ++failed;
        }
    };
    {
        std::vector<std::jthread> table;
        table.emplace_back([&] { guarded(0, others()); });
        for (std::size_t seat = 1; seat < seats; ++seat)
            table.emplace_back([&, seat] { guarded(seat, *guests[seat - 1]); });
    }
    EXPECT_EQ(failed, 0U);
    EXPECT_EQ(eaten_, seats * meals + 1);
    EXPECT_EQ(shared_, 0U);
    EXPECT_EQ(lost_, 0U);
    EXPECT_TRUE(eventually([&] { return keys() == 0; }));
}

// Redisson's RedLock, redsync and node-redlock, and our quorum_mutex: one lock at several servers.

/// Of what kind the votes are depends on whom we meet.
class quorum_of_five : public council {
protected:
    explicit quorum_of_five(std::string primitive)
        : council{5, std::move(primitive)} {}

    remote_lock lock_of(delegation& whose, const std::string& actor) {
        return whose.majority(actor, "L", GetParam().redisson.empty() ? "token" : "getLock");
    }

    /// Without an answer some clients wait long, or for ever: all have their connections already.
    void use_once(delegation& whose) {
        remote_lock lock = lock_of(whose, "alice");
        lock.lock();
        EXPECT_TRUE(lock.unlock());
        EXPECT_TRUE(eventually([&] { return keys() == 0; }));
    }

    void exclude_each_other() {
        remote_lock held = lock_of(first(), "alice"), across = lock_of(second(), "bob");
        for (const bool leased : {false, true}) {
            leased ? held.lock(60s) : held.lock();
            EXPECT_GE(count_of("L"), majority());
            EXPECT_FALSE(across.try_lock());
            EXPECT_GE(count_of("L"), majority());
            EXPECT_TRUE(held.unlock());
            EXPECT_TRUE(eventually([&] { return keys() == 0; }));
        }
        across.lock();
        EXPECT_FALSE(held.try_lock());
        EXPECT_TRUE(across.unlock());
        EXPECT_TRUE(eventually([&] { return keys() == 0; }));
    }

    void is_free_after_a_death() {
        have_clients({.lease_time = 3s});
        const std::unique_ptr<peer> doomed = new_process(others_are_first());
        const std::unique_ptr<delegation> its = delegation_of(*doomed, others_are_first());
        remote_lock held = lock_of(*its, "alice"), wanted = lock_of(second(), "bob");
        // A neighbour renews nothing, and says for how long; the others are renewed until they die.
        const bool renewed = !others_are_first() || first_is_jvm();
        renewed ? held.lock() : held.lock(3s);
        ongoing waiting = wanted.begin_lock();
        doomed->kill();
        const std::vector<std::chrono::microseconds> ends = ends_of("L");
        (void)patiently(std::move(waiting));
        EXPECT_GE(ended(ends), majority());
        EXPECT_TRUE(wanted.unlock());
    }

    bool first_is_jvm() const { return others_are_first() && !GetParam().redisson.empty(); }
};

class RedLock : public quorum_of_five {
protected:
    RedLock()
        : quorum_of_five{"RedissonRedLock"} {}
};
HOLDFAST_COUNCIL(RedLock, redissons());

TEST_P(RedLock, AHeldOneIsBusyToTheOtherSide) {
    exclude_each_other();
}

TEST_P(RedLock, AReleaseLetsTheOthersWaiterIn) {
    have_clients({.lease_time = 10s, .poll_bound = 1h});
    remote_lock held = lock_of(first(), "alice"), wanted = lock_of(second(), "bob");
    held.lock();
    ongoing waiting = wanted.begin_lock();
    ASSERT_TRUE(eventually([&] { // somewhere it listens
        for (std::size_t i = 0; i < size(); ++i)
            if (!server(i).command({"PUBSUB", "CHANNELS"}).items.empty())
                return true;
        return false;
    }));
    EXPECT_FALSE(support::is_ready(waiting.answer));
    EXPECT_TRUE(held.unlock());
    (void)patiently(std::move(waiting));
    EXPECT_GE(count_of("L"), majority());
    EXPECT_TRUE(wanted.unlock());
}

TEST_P(RedLock, AVoteTakenAwayLeavesAMajority) {
    remote_lock held = lock_of(first(), "alice"), across = lock_of(second(), "bob");
    held.lock();
    // Ours is granted by a majority; the other votes may still be on their way.
    ASSERT_TRUE(eventually([&] { return count_of("L") == size(); }));
    EXPECT_TRUE(second().one("carol", {2, "L"}).force_unlock());
    EXPECT_FALSE(across.try_lock());
    EXPECT_GE(count_of("L"), majority());
    EXPECT_TRUE(held.unlock());
    EXPECT_TRUE(eventually([&] { return keys() == 0; }));
}

TEST_P(RedLock, AMinorityThatIsBusyKeepsNobodyAway) {
    remote_lock at_one = second().one("carol", {1, "L"}),
                at_three = second().one("carol", {3, "L"});
    at_one.lock();
    at_three.lock();
    remote_lock wanted = lock_of(first(), "alice");
    wanted.lock();
    EXPECT_EQ(count_of("L"), size());
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(eventually([&] { return count_of("L") == 2; }));
    remote_lock at_four = second().one("carol", {4, "L"});
    at_four.lock();
    EXPECT_FALSE(wanted.try_lock());
    for (remote_lock* each : {&at_one, &at_three, &at_four})
        EXPECT_TRUE(each->unlock());
}

TEST_P(RedLock, GoesOnWithoutOneServer) {
    have_clients({.lease_time = 10s, .redisson_server = {{"retryAttempts", 1}}});
    use_once(first());
    use_once(second());
    kill_server(1);
    exclude_each_other();
}

TEST_P(RedLock, OfAKilledHolderIsFreeWhenItsLeaseEnds) {
    is_free_after_a_death();
}

class RedLockOfThree : public council {
protected:
    RedLockOfThree()
        : council{3, "RedissonRedLock"} {}
};
HOLDFAST_COUNCIL(RedLockOfThree, in_one_role(redissons()));

TEST_P(RedLockOfThree, TwoWhoContendNeverHoldItBoth) {
    constexpr int turns = 20;
    constexpr duration hold = 2ms; // so that two who both had it would be seen
    std::atomic<int> inside = 0, together = 0, taken = 0, lost = 0, failed = 0;
    const auto contend = [&](delegation& who) {
        try {
            remote_lock lock = who.majority("contender", "L");
            for (int turn = 0; turn < turns; ++turn) {
                lock.lock();
                together += ++inside > 1 ? 1 : 0;
                ++taken;
                std::this_thread::sleep_for(hold);
                --inside;
                lost += lock.unlock() ? 0 : 1;
            }
        } catch (const std::exception& failure) {
            std::cerr << (who.is_jvm() ? "the JVM: " : "ours: ") << failure.what() << std::endl;
            ++failed;
        }
    };
    {
        const std::jthread one{[&, &who = others()] { contend(who); }};
        const std::jthread other{[&, &who = ours()] { contend(who); }};
    }
    EXPECT_EQ(together, 0);
    EXPECT_EQ(taken, 2 * turns);
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(failed, 0);
    EXPECT_TRUE(eventually([&] { return keys() == 0; }));
}

class NeighboursQuorum : public quorum_of_five {
protected:
    NeighboursQuorum()
        : quorum_of_five{"quorum_mutex"} {}
};
HOLDFAST_COUNCIL(NeighboursQuorum, neighbours({"redsync", "node-redlock"}));

TEST_P(NeighboursQuorum, AHeldOneIsBusyToTheOtherSide) {
    exclude_each_other();
}

TEST_P(NeighboursQuorum, GoesOnWithoutOneServer) {
    use_once(first());
    use_once(second());
    kill_server(1);
    exclude_each_other();
}

TEST_P(NeighboursQuorum, AWaiterGetsItAfterARelease) {
    remote_lock held = lock_of(first(), "alice"), wanted = lock_of(second(), "bob");
    others_are_first() ? held.lock(80s) : held.lock();
    ongoing waiting = wanted.begin_lock();
    EXPECT_FALSE(lock_of(second(), "carol").try_lock());
    EXPECT_FALSE(support::is_ready(waiting.answer));
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer)); // and so long before its lease would have ended
    EXPECT_GE(count_of("L"), majority());
    EXPECT_TRUE(wanted.unlock());
}

TEST_P(NeighboursQuorum, OfAKilledHolderIsFreeWhenItsLeaseEnds) {
    is_free_after_a_death();
}

} // namespace
} // namespace holdfast::interop
