// SPDX-License-Identifier: Apache-2.0
// Redisson's spin, fenced and non-reentrant locks, and ours: state, waiting, death and force, and
// what each of them has of its own.
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"
#include "interop/transcript.hpp"

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

    /// Whether somebody waits for it at the server.
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

} // namespace
} // namespace holdfast::interop
