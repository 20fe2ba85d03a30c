// SPDX-License-Identifier: Apache-2.0
// lock_mutex.lua and release_mutex.lua when nothing is wrong.
#include "scripts_fixture.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Le;

class MutexScripts : public on_scripts {};
HOLDFAST_ON_EACH_SERVER(MutexScripts);

TEST_P(MutexScripts, AFreeLockIsTaken) {
    const std::int64_t before = server_micros();
    const numbers said = integers_of(lock(alice, 30'000));
    EXPECT_THAT(said, ElementsAre(1, 0, AllOf(Gt(before), Le(server_micros()))));
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_EQ(ask({"HLEN", name_}), 1);
    EXPECT_THAT(time_left(), AllOf(Gt(29'000), Le(30'000)));
}

TEST_P(MutexScripts, TakingTwiceIsTakingOnce) {
    lock(alice, 30'000);
    EXPECT_EQ(integers_of(lock(alice, 30'000))[0], 1);
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_EQ(integers_of(release(alice))[0], 1);
    EXPECT_FALSE(exists());
}

TEST_P(MutexScripts, TakingAgainExtendsAndNeverShortens) {
    lock(alice, 30'000);
    EXPECT_EQ(integers_of(lock(alice, 1'000))[0], 1);
    EXPECT_GT(time_left(), 29'000);
    lock(alice, 60'000);
    EXPECT_GT(time_left(), 59'000);
}

TEST_P(MutexScripts, TakingAgainIsAlwaysWritten) {
    lock(alice, 30'000);
    const std::int64_t before = changes();
    EXPECT_EQ(integers_of(lock(alice, 1'000))[0], 1);
    EXPECT_GT(changes(), before);
    lock(bob, 30'000);
    EXPECT_EQ(changes(), before + 1);
}

TEST_P(MutexScripts, AHoldThatSomebodyMadeEndlessStaysSo) {
    lock(alice, 30'000);
    server().command({"PERSIST", name_});
    const std::int64_t before = changes();
    EXPECT_EQ(integers_of(lock(alice, 30'000))[0], 1);
    EXPECT_EQ(time_left(), -1);
    EXPECT_EQ(changes(), before);
    EXPECT_EQ(integers_of(release(alice))[0], 1);
    EXPECT_FALSE(exists());
}

TEST_P(MutexScripts, BusyTellsWhatIsLeftAndTouchesNothing) {
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(lock(bob, 90'000)),
                ElementsAre(0, AllOf(Gt(29'000), Le(30'000)), Gt(0)));
    EXPECT_EQ(ask({"HLEN", name_}), 1);
    EXPECT_LE(time_left(), 30'000);
}

TEST_P(MutexScripts, BusyWithoutAnEndSaysSo) {
    server().command({"HSET", name_, alice, "1"});
    EXPECT_THAT(integers_of(lock(bob, 30'000)), ElementsAre(0, -1, Gt(0)));
}

TEST_P(MutexScripts, LateIsRefused) {
    EXPECT_THAT(integers_of(lock(alice, 30'000, server_micros() - 1)), ElementsAre(2, 0, Gt(0)));
    EXPECT_FALSE(exists());
    EXPECT_EQ(integers_of(lock(alice, 30'000, server_micros() + 60'000'000))[0], 1);
}

TEST_P(MutexScripts, LateIsRefusedToTheHolderTooAndTakesNothingAway) {
    lock(alice, 30'000);
    EXPECT_EQ(integers_of(lock(alice, 90'000, server_micros() - 1))[0], 2);
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_LE(time_left(), 30'000);
}

TEST_P(MutexScripts, AReleaseIsToldToWhoListens) {
    support::redis_connection listener{server().socket_path()};
    listener.command({"SUBSCRIBE", channel_});
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, 1));
    EXPECT_FALSE(exists());
    const auto message = listener.next_message(duration{5'000});
    ASSERT_TRUE(message);
    EXPECT_EQ(message->items[1].text, channel_);
    EXPECT_EQ(message->items[2].text, "0");
}

TEST_P(MutexScripts, ReleasingTwiceIsReleasingOnce) {
    support::redis_connection listener{server().socket_path()};
    lock(alice, 30'000);
    release(alice);
    listener.command({"SUBSCRIBE", channel_});
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(0, 0));
    server().command({"PUBLISH", channel_, "the next message"});
    EXPECT_EQ(listener.next_message(duration{5'000})->items[2].text, "the next message");
}

TEST_P(MutexScripts, NobodyReleasesAnothersHold) {
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(release(bob)), ElementsAre(0, 0));
    EXPECT_EQ(count_of(alice), "1");
    EXPECT_GT(time_left(), 29'000);
}

/// Its date is ours to move: what is late, and what has ended, needs no waiting.
class MutexScriptsInTime : public on_scripts {
protected:
    MutexScriptsInTime()
        : on_scripts{{.own_clock = true}} {}
};
HOLDFAST_ON_EACH_SERVER(MutexScriptsInTime);

TEST_P(MutexScriptsInTime, ALeaseThatEndedFreesTheLock) {
    lock(alice, 30'000);
    server().step_clock(std::chrono::seconds{29});
    EXPECT_EQ(integers_of(lock(bob, 30'000))[0], 0);
    server().step_clock(std::chrono::seconds{2});
    EXPECT_EQ(integers_of(lock(bob, 30'000))[0], 1);
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(0, 0));
    EXPECT_EQ(count_of(bob), "1");
}

TEST_P(MutexScriptsInTime, ARequestThatComesAfterItsDeadlineIsLate) {
    const std::int64_t deadline = server_micros() + 10'000'000;
    server().step_clock(std::chrono::seconds{9});
    EXPECT_EQ(integers_of(lock(alice, 30'000, deadline))[0], 1);
    release(alice);
    server().step_clock(std::chrono::seconds{2});
    EXPECT_EQ(integers_of(lock(alice, 30'000, deadline))[0], 2);
    EXPECT_FALSE(exists());
}

} // namespace
} // namespace holdfast
