// SPDX-License-Identifier: Apache-2.0
// Processes that die while they hold a lock, and holds that last for many lease times.
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"

#include <algorithm>

namespace holdfast::interop {
namespace {

constexpr duration lease_of_the_dead = 1s;

class Death : public meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        have_clients({.lease_time = lease_of_the_dead, .poll_bound = 1h});
    }
};
HOLDFAST_BOTH_WAYS(Death);
HOLDFAST_BOTH_WAYS_ONCE(Death);

TEST_P(Death, AKilledHoldersLockIsTheOthersWhenItsLeaseEnds) {
    const std::unique_ptr<peer> doomed = new_process(first().is_jvm());
    const std::unique_ptr<remote_client> its = client_of(*doomed, first().is_jvm());
    its->thread("alice").lock("L").lock();
    remote_lock wanted = second().thread("bob").lock("L");
    ongoing waiting = wanted.begin_lock();
    ASSERT_TRUE(eventually([&] { return waiters("L") == 1; }));
    transcript seen{server().socket_path()};
    const microseconds end = end_after_death(*doomed, "L");
    (void)soon(std::move(waiting.answer));

    const std::vector<entry>& all = seen.all();
    const auto granted = std::ranges::find_if(all, [](const entry& each) {
        return each.in_script && (each.is("HSET") || each.is("HINCRBY"));
    });
    ASSERT_NE(granted, all.end());
    EXPECT_GE(granted->at, end);
    EXPECT_LT(granted->at, end + lease_of_the_dead) << "it was not this end that freed it";
    RecordProperty("after_lease_end_us", static_cast<int>((granted->at - end).count()));
    EXPECT_TRUE(wanted.is_held());
    EXPECT_TRUE(wanted.unlock());
}

class Longevity : public Death {};
HOLDFAST_ONE_WAY(Longevity);

TEST_P(Longevity, EachSideKeepsItsHoldAliveForSeveralLeases) {
    remote_lock at_jvm = jvm().thread("alice").lock("java"),
                at_us = ours().thread("bob").lock("cpp");
    at_jvm.lock();
    at_us.lock();
    EXPECT_TRUE(keeps(jvm(), "java", 4 * lease_of_the_dead));
    EXPECT_TRUE(keeps(ours(), "cpp", duration::zero())) << "it has been held as long";
    EXPECT_FALSE(ours().thread("bob").lock("java").try_lock());
    EXPECT_FALSE(jvm().thread("alice").lock("cpp").try_lock());
    EXPECT_TRUE(at_jvm.is_held() && at_us.is_held());
    EXPECT_TRUE(at_jvm.unlock());
    EXPECT_TRUE(at_us.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

// Redisson 2.2.17, of 2016: its lock is the same hash, so it excludes us and we exclude it. Its
// channel has another name, so nobody hears the other side's releases: ours look again after their
// poll bound, a JVM when the lease ends that it was told.

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

class Elder : public meeting {
protected:
    void SetUp() override {
        meeting::SetUp();
        have_clients({.poll_bound = 500ms});
    }
};
INSTANTIATE_TEST_SUITE_P(Redisson, Elder, testing::ValuesIn(both_ways_with_elders()), name_of);

TEST_P(Elder, AHeldLockIsTheSameHashAndBusyToTheOtherSide) {
    remote_lock held = first().thread("alice").lock("L"), across = second().thread("bob").lock("L");
    for (const bool leased : {false, true}) {
        leased ? held.lock(60s) : held.lock();
        const auto state = state_of(server());
        ASSERT_THAT(state, UnorderedElementsAre(Pair("L", testing::_)));
        EXPECT_THAT(state.at("L").fields,
                    ElementsAre(Pair(testing::MatchesRegex("[0-9a-f-]{36}:[0-9]+"), "1")));
        EXPECT_LE(state.at("L").left.value(), leased ? 60s : 30s);
        EXPECT_GT(state.at("L").left.value(), leased ? 50s : 20s);
        EXPECT_TRUE(held.is_held());
        EXPECT_FALSE(across.try_lock());
        if (!second().is_jvm()) { // its client hangs where its time ends before it has subscribed
            EXPECT_FALSE(across.try_lock_for(5ms));
        }
        EXPECT_TRUE(across.is_locked());
        EXPECT_FALSE(across.is_held());
        EXPECT_FALSE(across.unlock());
        EXPECT_TRUE(held.unlock());
        EXPECT_TRUE(state_of(server()).empty());
        EXPECT_TRUE(across.try_lock());
        EXPECT_FALSE(held.try_lock());
        EXPECT_FALSE(held.unlock());
        EXPECT_TRUE(across.unlock());
    }
}

TEST_P(Elder, AWaiterGetsTheLockAfterAReleaseThatItDoesNotHear) {
    remote_lock held = first().thread("alice").lock("L"), wanted = second().thread("bob").lock("L");
    held.lock(3s); // a JVM asks again when that is over, and not before
    transcript seen{server().socket_path()};
    ongoing waiting = wanted.begin_lock();
    const auto channels = [&](const char* command) {
        std::vector<std::string> names;
        for (const entry& each : seen.all())
            if (each.is(command))
                names.push_back(each.words.at(1));
        return names;
    };
    ASSERT_TRUE(eventually([&] { return !channels("SUBSCRIBE").empty(); }));
    EXPECT_FALSE(support::is_ready(waiting.answer));
    EXPECT_TRUE(held.unlock());
    (void)soon(std::move(waiting.answer));
    const std::string of_jvm = "redisson_lock__channel__{L}";
    const bool jvm_waits = second().is_jvm();
    EXPECT_THAT(channels("SUBSCRIBE"), ElementsAre(jvm_waits ? of_jvm : channel_of("L")));
    EXPECT_THAT(channels("PUBLISH"), ElementsAre(jvm_waits ? channel_of("L") : of_jvm));
    EXPECT_TRUE(wanted.is_held());
    EXPECT_FALSE(held.try_lock());
    EXPECT_TRUE(wanted.unlock());
    EXPECT_TRUE(state_of(server()).empty());
}

} // namespace
} // namespace holdfast::interop
