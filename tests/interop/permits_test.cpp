// SPDX-License-Identifier: Apache-2.0
// Redisson's permit-expirable semaphores and ours: state, messages, who releases and extends whose.
#include "interop/permits_meeting.hpp"

namespace holdfast::interop {
namespace {

using testing::ElementsAre;
using testing::Not;

constexpr std::int64_t without_end = 922'337'203'685'477;

class Permits : public permits_meeting {};
HOLDFAST_BOTH_WAYS_AT(Permits, "getPermitExpirableSemaphore");

TEST_P(Permits, AreDrainedTogetherAndEachSideCountsTheSame) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_EQ(bob.available_permits(), 0);
    EXPECT_FALSE(bob.try_acquire());
    EXPECT_TRUE(alice.try_set_permits(3));
    EXPECT_FALSE(bob.try_set_permits(7));
    const std::string of_alice = alice.acquire(), of_bob = bob.acquire(60s);
    expect_counts(1, 2);
    const std::optional<std::string> last = alice.try_acquire_for(1min, 60s);
    ASSERT_TRUE(last);
    EXPECT_EQ(of_alice.size(), 32U);
    for (const std::string& id : {of_alice, of_bob, *last})
        EXPECT_TRUE(end_of(id)) << id << " is of another form";
    expect_counts(0, 3);
    for (remote_permits* each : {&alice, &bob}) {
        EXPECT_EQ(each->available_permits(), 0);
        EXPECT_FALSE(each->try_acquire());
        EXPECT_FALSE(each->try_acquire_for(5ms));
        if (are_new()) {
            EXPECT_EQ(each->acquired_permits(), 3);
        }
    }
    EXPECT_TRUE(alice.try_release(of_alice));
    EXPECT_TRUE(bob.try_release(of_bob));
    EXPECT_EQ(alice.available_permits(), 2);
    EXPECT_EQ(bob.available_permits(), 2);
    EXPECT_TRUE(alice.try_release(*last));
    expect_counts(3, 0);
    EXPECT_TRUE(bob.erase());
    expect_nothing();
}

TEST_P(Permits, OfOneSideAreReleasedByTheOther) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(1));
    const std::string id = alice.acquire(60s);
    EXPECT_TRUE(bob.try_release(id));
    expect_counts(1, 0);
    EXPECT_FALSE(bob.try_release(id));
    EXPECT_FALSE(alice.try_release(id));
    expect_counts(1, 0);
}

TEST_P(Permits, OfOursThatAJvmReleasesAreLostAtTheNextRenewal) {
    remote_permits by_ours = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_jvm.try_set_permits(1));
    const std::string id = by_ours.acquire();
    EXPECT_TRUE(by_ours.is_held(id));
    EXPECT_TRUE(by_jvm.try_release(id));
    EXPECT_TRUE(eventually([&] { return !by_ours.is_held(id); }));
    expect_counts(1, 0);
}

TEST_P(Permits, OfOneSideAreExtendedByTheOther) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(2));
    const std::string id = alice.acquire(60s);
    EXPECT_TRUE(bob.set_lease(id, 10min));
    const duration left = end_of(id).value() - now();
    EXPECT_GT(left, 9min);
    EXPECT_LE(left, 10min);
    if (are_new()) {
        const duration told = of_jvm().lease_left(id);
        EXPECT_GT(told, 9min);
        EXPECT_LE(told, 10min);
    }
    EXPECT_FALSE(bob.set_lease("0123456789abcdef0123456789abcdef", 10min));
    EXPECT_TRUE(alice.try_release(id));
    EXPECT_FALSE(bob.set_lease(id, 10min));
    expect_counts(2, 0);
}

TEST_P(Permits, OfAJvmHaveNoEndUntilOursGiveThemOne) {
    remote_permits by_ours = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_ours.try_set_permits(1));
    const std::string id = by_jvm.acquire();
    EXPECT_EQ(end_of(id), duration{without_end});
    ongoing served = waiting(by_ours);
    remote_permits another = of_ours("another");
    EXPECT_TRUE(another.set_lease(id, 60s));
    EXPECT_LE(end_of(id).value() - now(), 60s);
    EXPECT_TRUE(another.try_release(id));
    EXPECT_THAT(id_in(std::move(served)), Not(id));
    expect_counts(0, 1);
}

// A JVM told of as many as came back at once; ours of how many there are.
TEST_P(Permits, WhatIsToldIsHowManyThereAre) {
    remote_permits alice = of_first(), bob = of_second();
    transcript seen{server().socket_path()};
    EXPECT_TRUE(alice.try_set_permits(3));
    const std::string one = bob.acquire(60s), other = bob.acquire(60s);
    EXPECT_TRUE(alice.try_release(one));
    EXPECT_TRUE(bob.try_release(other));
    EXPECT_THAT(told(seen), ElementsAre(message(3), message(2), message(3)));
}

TEST_P(Permits, AreAddedAndTakenAwayByBoth) {
    remote_permits alice = of_first(), bob = of_second();
    alice.add_permits(5);
    EXPECT_EQ(bob.available_permits(), 5);
    const std::string held = bob.acquire(60s);
    alice.add_permits(-6);
    EXPECT_EQ(alice.available_permits(), -2);
    EXPECT_EQ(bob.available_permits(), -2);
    EXPECT_FALSE(bob.try_acquire());
    EXPECT_TRUE(bob.try_release(held));
    bob.add_permits(3);
    EXPECT_EQ(alice.available_permits(), 2);
    expect_counts(2, 0);
}

TEST_P(Permits, AreSetWhileSomeAreHeld) {
    if (!are_new())
        return; // such a JVM cannot
    remote_permits alice = of_first(), bob = of_second();
    alice.set_permits(3);
    expect_counts(3, 0);
    const std::string held = bob.acquire(60s);
    alice.set_permits(5);
    expect_counts(4, 1);
    EXPECT_EQ(bob.available_permits(), 4);
    EXPECT_EQ(of_jvm().permits_in_all(), 5);
    bob.set_permits(1);
    EXPECT_EQ(alice.available_permits(), 0);
    EXPECT_FALSE(alice.try_acquire());
    alice.set_permits(0);
    expect_counts(-1, 1);
    EXPECT_TRUE(bob.try_release(held));
    expect_counts(0, 0);
}

TEST_P(Permits, SeveralAtOnceAreAllOrNone) {
    if (!are_new())
        return; // such a JVM takes one at a time
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(5));
    const std::vector<std::string> three = alice.acquire_several(3);
    EXPECT_EQ(three.size(), 3U);
    expect_counts(2, 3);
    EXPECT_TRUE(bob.try_acquire_several(3).empty());
    EXPECT_EQ(bob.try_acquire_several(2).size(), 2U);
    expect_counts(0, 5);
    EXPECT_EQ(bob.acquired_permits(), 5);
    EXPECT_EQ(bob.try_release_several(three), 3);
    expect_counts(3, 2);
    EXPECT_EQ(alice.available_permits(), 3);
}

// A lease of ours is all of its permits: without one of them it is lost, and the rest comes back.
TEST_P(Permits, OneOfSeveralOfOursThatAJvmReleasesTakesTheOthersAlong) {
    remote_permits by_ours = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_jvm.try_set_permits(3));
    const std::vector<std::string> all = by_ours.acquire_several(3);
    EXPECT_TRUE(by_jvm.try_release(all.at(1)));
    EXPECT_TRUE(eventually([&] { return !by_ours.is_held(all.at(0)); }));
    EXPECT_TRUE(eventually([&] { return by_jvm.available_permits() == 3; }));
    expect_counts(3, 0);
}

TEST_P(Permits, OfAJvmsListWithOneThatIsNotHeldAreAllKept) {
    if (!are_new())
        return; // such a JVM releases one at a time, or those that it finds
    remote_permits by_ours = of_ours(), by_jvm = of_jvm();
    EXPECT_TRUE(by_ours.try_set_permits(3));
    std::vector<std::string> ids = by_ours.acquire_several(2);
    ids.emplace_back("0123456789abcdef0123456789abcdef");
    EXPECT_EQ(by_jvm.try_release_several(ids), 0);
    expect_counts(1, 2);
    EXPECT_TRUE(by_ours.is_held(ids[0]));
    ids.pop_back();
    EXPECT_EQ(by_jvm.try_release_several(ids), 2);
    EXPECT_TRUE(eventually([&] { return !by_ours.is_held(ids[0]); }));
    expect_counts(3, 0);
    EXPECT_EQ(by_jvm.try_release_several(ids), 0);
}

// The end of the key itself.
TEST_P(Permits, OfASemaphoreThatEndsGoWithIt) {
    remote_permits alice = of_first(), bob = of_second();
    EXPECT_TRUE(alice.try_set_permits(3));
    server().command({"PEXPIRE", "L", "60000"});
    for (remote_permits* each : {&alice, &bob}) {
        (void)each->acquire(10min);
        EXPECT_LE(state_of(server()).at("{L}:timeout").left.value(), 60s);
        server().command({"PERSIST", "{L}:timeout"});
    }
}

TEST_P(Permits, OfAnyNameAreTheSame) {
    for (const char* name : {"plain", "order:42", "a{b}c", "{a}{b}", "}a{b}", "a{b}{", "two words",
                             "k\xc3\xbchl", "*"}) {
        SCOPED_TRACE(name);
        remote_permits alice = of_first("alice", name), bob = of_second("bob", name);
        ongoing served = waiting(bob, name);
        EXPECT_TRUE(alice.try_set_permits(1));
        EXPECT_TRUE(alice.try_release(id_in(std::move(served))));
        EXPECT_EQ(bob.available_permits(), 1);
        EXPECT_TRUE(bob.erase());
    }
    expect_nothing();
}

} // namespace
} // namespace holdfast::interop
