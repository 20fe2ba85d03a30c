// SPDX-License-Identifier: Apache-2.0
// Redisson's spin, fenced and non-reentrant locks together with those of holdfast: stored state,
// waiting, deaths, forced releases, and the special features of each kind.
#include "interop/council.hpp"
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"

#include <algorithm>

namespace holdfast::interop {
namespace {

using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

class Kinds : public meeting {
protected:
    remote_lock lock_of(remote_client& whose, const std::string& actor) {
        return whose.thread(actor).lock("L", GetParam().getter);
    }
    /// The lock's key, and not the counter of its tokens, which stays.
    std::map<std::string, key_state> locks() {
        std::map<std::string, key_state> all = state_of(server());
        std::erase_if(all, [](const auto& each) {
            return each.first.starts_with("redisson_lock_token:") && !each.second.left;
        });
        return all;
    }
    bool is_spin() const { return GetParam().getter == "getSpinLock"; }

    /// Returns whether a client waits for the lock at the server.
    bool is_waited_for(transcript& seen, const remote_client& by) {
        return eventually([&] {
            return std::ranges::count_if(seen.all(),
                                         [&](const entry& each) {
                                             return each.is_script() && each.mentions(by.id());
                                         }) >= 3 ||
                   waiters("L") == 1;
        });
    }
};
INSTANTIATE_TEST_SUITE_P(Redisson, Kinds,
                         testing::ValuesIn(both_ways_at({"getSpinLock", "getFencedLock",
                                                         "getNonReentrantLock"})),
                         name_of);

TEST_P(Kinds, AHeldLockIsAHashOfItsOwnerAndBusyToTheOtherSide) {
    const remote_thread alice = first().thread("alice");
    remote_lock held = lock_of(first(), "alice"), across = lock_of(second(), "bob");
    remote_lock plain = second().thread("carol").lock("L");
    for (const bool later : {false, true}) {
        remote_lock taking = later ? held.async() : held;
        taking.lock(60s);
        const auto state = locks();
        ASSERT_THAT(state, UnorderedElementsAre(Pair("L", testing::_)));
        EXPECT_THAT(state.at("L").fields,
                    UnorderedElementsAre(Pair(StartsWith(alice.owner()), "1")));
        EXPECT_LE(state.at("L").left.value(), 60s);
        EXPECT_GT(state.at("L").left.value(), 50s);
        EXPECT_FALSE(across.try_lock());
        EXPECT_FALSE(across.try_lock_for(5ms, 90s));
        EXPECT_FALSE(plain.try_lock());
        EXPECT_TRUE(across.is_locked());
        EXPECT_FALSE(across.unlock());
        EXPECT_LE(across.remaining(), 60s);
        EXPECT_TRUE(taking.unlock());
        EXPECT_TRUE(locks().empty());
        EXPECT_FALSE(across.is_locked());
        EXPECT_FALSE(taking.unlock());
    }
}

TEST_P(Kinds, AReleaseLetsTheOthersWaiterIn) {
    have_clients({.lease_time = 10min, .poll_bound = 1h});
    remote_lock held = lock_of(first(), "alice"), wanted = lock_of(second(), "bob");
    held.lock();
    transcript seen{server().socket_path()};
    ongoing waiting = wanted.begin_lock();
    ASSERT_TRUE(is_waited_for(seen, second()));
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer));
    EXPECT_TRUE(wanted.is_held());
    EXPECT_TRUE(wanted.unlock());
    const auto tells = [](const entry& each) { return each.is("PUBLISH") || each.is("SUBSCRIBE"); };
    EXPECT_EQ(std::ranges::any_of(seen.all(), tells), !is_spin());
    EXPECT_TRUE(locks().empty());
}

TEST_P(Kinds, AKilledHoldersLockIsTheOthersWhenItsLeaseEnds) {
    have_clients({.lease_time = 1s, .poll_bound = 1h});
    const std::unique_ptr<peer> doomed = new_process(first().is_jvm());
    const std::unique_ptr<remote_client> its = client_of(*doomed, first().is_jvm());
    lock_of(*its, "alice").lock();
    EXPECT_TRUE(keeps(*its, "L", 2s)) << "while it lives it is renewed";
    remote_lock wanted = lock_of(second(), "bob");
    transcript seen{server().socket_path()};
    ongoing waiting = wanted.begin_lock();
    ASSERT_TRUE(is_waited_for(seen, second()));
    const microseconds end = end_after_death(*doomed, "L");
    (void)soon(std::move(waiting.answer));
    EXPECT_GE(time_of(server()), end);
    EXPECT_TRUE(wanted.is_held());
    EXPECT_TRUE(wanted.unlock());
}

TEST_P(Kinds, AForcedLockIsTheOthersAndItsHolderIsTold) {
    have_clients({.lease_time = 3s});
    remote_lock held = lock_of(first(), "alice"), forcing = lock_of(second(), "bob");
    held.lock();
    EXPECT_TRUE(forcing.force_unlock());
    EXPECT_TRUE(locks().empty());
    EXPECT_FALSE(forcing.force_unlock());
    forcing.lock();
    EXPECT_TRUE(eventually([&] { return !held.is_held(); }));
    EXPECT_FALSE(held.unlock());
    EXPECT_TRUE(forcing.is_held());
    EXPECT_TRUE(forcing.unlock());
}

class NonReentrant : public Kinds {};
INSTANTIATE_TEST_SUITE_P(Redisson, NonReentrant,
                         testing::ValuesIn(both_ways_at({"getNonReentrantLock"})), name_of);

TEST_P(NonReentrant, ItsHolderIsRefusedAndHoldsItStill) {
    const remote_thread alice = first().thread("alice");
    remote_lock held = lock_of(first(), "alice");
    held.lock(60s);
    EXPECT_TRUE(held.refuses_reentry());
    EXPECT_EQ(held.hold_count(), 1);
    EXPECT_THAT(locks().at("L").fields, UnorderedElementsAre(Pair(StartsWith(alice.owner()), "1")));
    EXPECT_FALSE(lock_of(second(), "bob").try_lock());
    EXPECT_TRUE(held.unlock());
    EXPECT_TRUE(locks().empty());
}

class Tokens : public Kinds {
protected:
    std::string counter() { return server().command({"GET", "redisson_lock_token:{L}"}).text; }
};
INSTANTIATE_TEST_SUITE_P(Redisson, Tokens, testing::ValuesIn(both_ways_at({"getFencedLock"})),
                         name_of);

TEST_P(Tokens, GrowOverTheHoldsOfBothSides) {
    std::int64_t last = 0;
    for (int round = 0; round < 10; ++round)
        for (remote_client* side : {&first(), &second()}) {
            remote_lock lock = lock_of(*side, "alice");
            const std::int64_t token = lock.lock_and_get_token();
            EXPECT_EQ(token, last + 1);
            EXPECT_EQ(counter(), std::to_string(token));
            EXPECT_EQ(lock.token(), token);
            last = token;
            EXPECT_TRUE(lock.unlock());
            EXPECT_EQ(lock_of(second(), "bob").token(), last) << "the last one's";
        }
    EXPECT_EQ(server().command({"PTTL", "redisson_lock_token:{L}"}).integer, -1);
}

TEST_P(Tokens, GrowInTheOrderInWhichACrowdOfBothSidesIsServed) {
    remote_lock held = lock_of(first(), "holder");
    std::int64_t last = held.lock_and_get_token();
    std::vector<remote_lock> crowd;
    std::vector<ongoing> waiting;
    for (int i = 0; i < 4; ++i)
        for (remote_client* side : {&first(), &second()})
            crowd.push_back(lock_of(*side, "waiter " + std::to_string(i)));
    for (remote_lock& each : crowd)
        waiting.push_back(each.begin_lock_and_get_token());
    EXPECT_TRUE(held.unlock());
    std::vector<bool> served(crowd.size());
    for (std::size_t count = 0; count < crowd.size(); ++count)
        ASSERT_TRUE(eventually([&] {
            for (std::size_t i = 0; i < crowd.size(); ++i)
                if (!served[i] && support::is_ready(waiting[i].answer)) {
                    const std::int64_t token = waiting[i].answer.get().as_int64();
                    EXPECT_GT(token, last);
                    last = token;
                    served[i] = true;
                    return crowd[i].unlock();
                }
            return false;
        })) << count
            << " were served";
    EXPECT_GE(std::stoll(counter()), last);
    EXPECT_TRUE(locks().empty());
}

TEST_P(Tokens, GrowOverAForcedRelease) {
    remote_lock held = lock_of(first(), "alice"), forcing = lock_of(second(), "bob");
    const std::int64_t lost = held.lock_and_get_token();
    EXPECT_TRUE(forcing.force_unlock());
    EXPECT_GT(forcing.lock_and_get_token(), lost);
    EXPECT_TRUE(forcing.unlock());
}

TEST_P(Tokens, OfAReentryAreThoseOfTheHoldWithUsAndNewOnesInAJvm) {
    remote_lock held = lock_of(first(), "alice");
    const std::int64_t outer = held.lock_and_get_token();
    EXPECT_EQ(held.lock_and_get_token(), first().is_jvm() ? outer + 1 : outer);
    EXPECT_TRUE(held.unlock());
    EXPECT_TRUE(held.unlock());
    remote_lock next = lock_of(second(), "bob");
    EXPECT_GT(next.lock_and_get_token(), outer);
    EXPECT_TRUE(next.unlock());
}

// redis-py's Lock, redsync and node-redlock at one server, and our token_mutex.

class Neighbours : public council {
protected:
    Neighbours()
        : council{1, "token_mutex"} {}

    remote_lock lock_of(delegation& whose, const std::string& actor) {
        return whose.one(actor, {0, "L"}, "token");
    }
    std::string value() { return server().command({"GET", "L"}).text; }
    std::chrono::microseconds end() { return ends_of("L").front(); }
};
HOLDFAST_COUNCIL(Neighbours, neighbours_on_each_server({"redis-py", "redsync", "node-redlock"}));

TEST_P(Neighbours, AHeldLockIsAStringAndBusyToTheOtherSide) {
    remote_lock held = lock_of(first(), "alice"), across = lock_of(second(), "bob");
    held.lock(60s);
    const auto state = state_of(server());
    ASSERT_EQ(state.size(), 1U);
    EXPECT_EQ(state.at("L").type, "string");
    EXPECT_LE(state.at("L").left.value(), 60s);
    EXPECT_GT(state.at("L").left.value(), 30s);
    EXPECT_FALSE(across.try_lock());
    EXPECT_FALSE(across.try_lock_for(5ms));
    EXPECT_FALSE(across.unlock());
    EXPECT_TRUE(held.unlock());
    EXPECT_EQ(keys(), 0);
    EXPECT_TRUE(across.try_lock());
    const std::string whose = value();
    EXPECT_FALSE(held.try_lock());
    EXPECT_FALSE(held.unlock());
    EXPECT_EQ(value(), whose);
    EXPECT_TRUE(across.unlock());
    EXPECT_EQ(keys(), 0);
}

TEST_P(Neighbours, AWaiterGetsTheLockAfterARelease) {
    have_clients({.lease_time = 10s, .poll_bound = 1h});
    remote_lock held = lock_of(first(), "alice"), wanted = lock_of(second(), "bob");
    held.lock(80s);
    ongoing waiting = wanted.begin_lock();
    EXPECT_FALSE(lock_of(second(), "carol").try_lock());
    EXPECT_FALSE(support::is_ready(waiting.answer));
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer)); // and so long before its lease would have ended
    EXPECT_EQ(keys(), 1);
    EXPECT_TRUE(wanted.unlock());
}

TEST_P(Neighbours, AKilledHoldersLockIsTheOthersWhenItsLeaseEnds) {
    const std::unique_ptr<peer> doomed = new_process(others_are_first());
    const std::unique_ptr<delegation> its = delegation_of(*doomed, others_are_first());
    remote_lock wanted = lock_of(second(), "bob");
    lock_of(*its, "alice").lock(1s);
    const std::chrono::microseconds end_of_lease = end();
    ongoing waiting = wanted.begin_lock();
    doomed->kill();
    (void)soon(std::move(waiting.answer));
    EXPECT_GE(time_of(server()), end_of_lease);
    EXPECT_TRUE(wanted.unlock());
}

TEST_P(Neighbours, AnExpiredHoldPassesOnAndItsUnlockEndsNobodyElses) {
    remote_lock held = lock_of(first(), "alice"), next = lock_of(second(), "bob");
    held.lock(200ms);
    next.lock();
    const std::string whose = value();
    EXPECT_FALSE(held.unlock());
    EXPECT_EQ(value(), whose);
    EXPECT_TRUE(next.unlock());
}

class NeighboursLongevity : public Neighbours {};
HOLDFAST_COUNCIL(NeighboursLongevity,
                 in_one_role(neighbours_on_each_server({"redis-py", "redsync", "node-redlock"})));

TEST_P(NeighboursLongevity, OurHoldIsRenewedAndKeepsThemOut) {
    have_clients({.lease_time = 2s});
    remote_lock held = lock_of(ours(), "alice"), across = lock_of(others(), "bob");
    held.lock();
    const std::string whose = value();
    const std::chrono::microseconds later = time_of(server()) + 5s;
    EXPECT_TRUE(eventually([&] {
        EXPECT_FALSE(across.try_lock());
        return HasFailure() || time_of(server()) > later;
    }));
    EXPECT_EQ(value(), whose);
    EXPECT_TRUE(held.unlock());
}

// A lock that the other side takes away.

class Force : public meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        // Waiters that do not poll, and holders that look after a second.
        have_clients({.lease_time = 3s, .poll_bound = 1h});
    }
};
HOLDFAST_BOTH_WAYS(Force);

TEST_P(Force, WakesTheWaitersOfBothSides) {
    // A third client holds the lock, because waiters of holdfast need no subscription while their
    // own client holds it.
    const std::unique_ptr<remote_client> third = another(first().is_jvm());
    remote_lock held = third->thread("alice").lock("L");
    remote_lock wanted = first().thread("anne").lock("L");
    remote_lock wanted_too = second().thread("bob").lock("L");
    remote_lock forcing = second().thread("carol").lock("L");
    held.lock(1h); // no end of a lease wakes anybody
    ongoing waiting = wanted.begin_lock(), waiting_too = wanted_too.begin_lock();
    ASSERT_TRUE(eventually([&] { return waiters("L") == 2; }));

    EXPECT_TRUE(forcing.force_unlock());
    ASSERT_TRUE(eventually([&] {
        return support::is_ready(waiting.answer) || support::is_ready(waiting_too.answer);
    }));
    // One of them has it now, and lets the other in.
    remote_lock& one = support::is_ready(waiting.answer) ? wanted : wanted_too;
    remote_lock& other = &one == &wanted ? wanted_too : wanted;
    EXPECT_TRUE(one.is_held());
    EXPECT_TRUE(one.unlock());
    (void)soon(std::move(waiting.answer));
    (void)soon(std::move(waiting_too.answer));
    EXPECT_TRUE(other.is_held());
    EXPECT_TRUE(other.unlock());
    EXPECT_FALSE(held.unlock());
}

TEST_P(Force, IsNoticedByTheHolderWhoLeavesTheNextOneAlone) {
    remote_lock held = first().thread("alice").lock("L");
    const remote_thread bob = second().thread("bob");
    remote_lock forcing = bob.lock("L");
    held.lock();
    EXPECT_TRUE(held.is_held());
    EXPECT_TRUE(forcing.force_unlock());
    forcing.lock();
    // A JVM asks the server, ours knows it from its next renewal.
    EXPECT_TRUE(eventually([&] { return !held.is_held(); }));
    EXPECT_FALSE(held.unlock());
    EXPECT_TRUE(forcing.is_held());
    const auto state = state_of(server());
    ASSERT_EQ(state.at("L").fields.size(), 1u);
    EXPECT_THAT(state.at("L").fields.begin()->first, testing::StartsWith(bob.owner()));
    EXPECT_TRUE(forcing.unlock());
}

// Data that each side stores on the server after each operation, and what each side reports about
// the other.

constexpr duration default_lease = 30s;

class State : public meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        began_ = boot_clock::now();
    }

    /// The lock, and nothing else, is on the server. A JVM counts its entries there, we never do.
    /// What is left of the lease is what cannot have passed since the test began.
    void expect_held(const remote_thread& holder, int entries, duration lease) {
        const auto state = state_of(server());
        const duration passed = boot_clock::now() - began_ + 1ms;
        ASSERT_THAT(state, UnorderedElementsAre(Pair("L", testing::_)));
        const key_state& lock = state.at("L");
        EXPECT_EQ(lock.type, "hash");
        const bool by_jvm = holder.owner().starts_with(jvm().id());
        const std::string count = by_jvm ? std::to_string(entries) : "1";
        EXPECT_THAT(lock.fields, UnorderedElementsAre(Pair(StartsWith(holder.owner()), count)));
        EXPECT_LE(lock.left.value(), lease);
        EXPECT_GE(lock.left.value(), lease - passed);
    }
    void expect_free() { EXPECT_TRUE(state_of(server()).empty()); }

private:
    time_point began_{};
};
HOLDFAST_BOTH_WAYS(State);
HOLDFAST_BOTH_WAYS_ONCE(State);

TEST_P(State, AHeldLockIsAHashOfItsOwner) {
    const remote_thread alice = first().thread("alice");
    remote_lock lock = alice.lock("L");
    lock.lock();
    expect_held(alice, 1, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_free();
    EXPECT_TRUE(lock.try_lock());
    expect_held(alice, 1, default_lease);
    EXPECT_TRUE(lock.unlock());
    EXPECT_TRUE(lock.try_lock_for(10s));
    expect_held(alice, 1, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_free();
}

TEST_P(State, ItEndsWithTheLeaseThatWasGiven) {
    const remote_thread alice = first().thread("alice");
    remote_lock lock = alice.lock("L");
    lock.lock(60s);
    expect_held(alice, 1, 60s);
    EXPECT_TRUE(lock.unlock());
    EXPECT_TRUE(lock.try_lock_for(10s, 7s));
    expect_held(alice, 1, 7s);
    EXPECT_TRUE(lock.unlock());
    expect_free();
}

TEST_P(State, EntriesAreCountedOnTheServerByAJvmAlone) {
    const remote_thread alice = first().thread("alice");
    remote_lock lock = alice.lock("L");
    lock.lock();
    lock.lock();
    EXPECT_TRUE(lock.try_lock());
    expect_held(alice, 3, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_held(alice, 2, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_held(alice, 1, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_free();
    EXPECT_FALSE(lock.unlock());
}

TEST_P(State, ALongerEntryExtendsTheLeaseAndAShorterOneCutsOnlyAJvms) {
    const remote_thread alice = first().thread("alice");
    remote_lock lock = alice.lock("L");
    lock.lock(20s);
    lock.lock(60s);
    expect_held(alice, 2, 60s);
    lock.lock(10s);
    expect_held(alice, 3, first().is_jvm() ? 10s : 60s);
    for (int entry = 0; entry < 3; ++entry)
        EXPECT_TRUE(lock.unlock());
    expect_free();
}

TEST_P(State, ABusyAnswerChangesNothing) {
    const remote_thread alice = first().thread("alice");
    remote_lock held = alice.lock("L"), wanted = second().thread("bob").lock("L");
    held.lock(60s);
    EXPECT_FALSE(wanted.try_lock());
    EXPECT_FALSE(wanted.try_lock_for(5ms));
    EXPECT_FALSE(wanted.try_lock_for(5ms, 90s));
    EXPECT_FALSE(wanted.async().try_lock());
    EXPECT_FALSE(wanted.unlock());
    expect_held(alice, 1, 60s);
    EXPECT_TRUE(held.unlock());
    expect_free();
}

TEST_P(State, TheAsynchronousCallsLeaveTheSame) {
    const remote_thread alice = first().thread("alice");
    remote_lock lock = alice.lock("L").async();
    lock.lock();
    expect_held(alice, 1, default_lease);
    lock.lock();
    expect_held(alice, 2, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_held(alice, 1, default_lease);
    EXPECT_TRUE(lock.unlock());
    expect_free();
    EXPECT_TRUE(lock.try_lock_for(10s, 7s));
    expect_held(alice, 1, 7s);
    EXPECT_TRUE(lock.unlock());
    EXPECT_FALSE(lock.unlock());
    expect_free();
}

TEST_P(State, ForceUnlockLeavesNothing) {
    remote_lock held = first().thread("alice").lock("L");
    remote_lock other = second().thread("bob").lock("L");
    EXPECT_FALSE(other.force_unlock());
    held.lock();
    EXPECT_TRUE(other.force_unlock());
    expect_free();
    EXPECT_FALSE(other.force_unlock());
    EXPECT_FALSE(held.unlock());
    expect_free();
}

TEST_P(State, EachSideTellsTheTruthAboutTheOthersHolds) {
    remote_lock held = first().thread("alice").lock("L");
    remote_lock beside = first().thread("anne").lock("L");
    remote_lock across = second().thread("bob").lock("L");
    const auto expect_all = [&](bool locked) {
        for (remote_lock* asking : {&held, &beside, &across}) {
            EXPECT_EQ(asking->is_locked(), locked);
            EXPECT_EQ(asking->async().is_locked(), locked);
        }
        EXPECT_FALSE(beside.is_held() || across.is_held());
        EXPECT_EQ(beside.hold_count() + across.hold_count(), 0);
    };
    expect_all(false);
    EXPECT_EQ(across.remaining(), -2ms);
    held.lock(60s);
    expect_all(true);
    EXPECT_TRUE(held.is_held());
    held.lock(60s);
    EXPECT_EQ(held.hold_count(), 2);
    const duration seen_by_holder = held.remaining(), seen_across = across.remaining();
    EXPECT_LE(seen_across, seen_by_holder);
    EXPECT_GT(seen_across, 50s);
    server().command({"PERSIST", "L"});
    EXPECT_EQ(held.remaining(), -1ms);
    EXPECT_EQ(across.remaining(), -1ms);
    EXPECT_TRUE(held.unlock());
    expect_all(true);
    EXPECT_TRUE(held.unlock());
    expect_all(false);
    EXPECT_FALSE(held.is_held());
    EXPECT_EQ(held.hold_count(), 0);
}

TEST_P(State, AnyNameThatCanBeLockedIsTheSameLockAndChannel) {
    for (const char* name : {"plain", "order:42", "a{b}c", "{a}{b}", "}a{b}", "a{b}{", "two words",
                             "quoted \"name\"", "k\xc3\xbchl", "\xf0\x9f\x94\x92", "*", "a\nb"}) {
        SCOPED_TRACE(name);
        remote_lock held = first().thread("alice").lock(name);
        remote_lock wanted = second().thread("bob").lock(name);
        held.lock();
        ongoing waiting = wanted.begin_lock();
        ASSERT_TRUE(eventually([&] { return waiters(name) == 1; }));
        EXPECT_TRUE(held.unlock());
        (void)soon(std::move(waiting.answer));
        EXPECT_THAT(state_of(server()), UnorderedElementsAre(Pair(name, testing::_)));
        EXPECT_TRUE(wanted.unlock());
    }
}

} // namespace
} // namespace holdfast::interop
