// SPDX-License-Identifier: Apache-2.0
// Redisson 2.2.17, of 2016: its lock is the same hash, so it excludes us and we exclude it. Its
// channel has another name, so nobody hears the other side's releases: ours look again after their
// poll bound, a JVM when the lease ends that it was told.
#include "interop/meeting.hpp"
#include "interop/server_state.hpp"
#include "interop/transcript.hpp"

#include <algorithm>

namespace holdfast::interop {
namespace {

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
