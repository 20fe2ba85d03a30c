// SPDX-License-Identifier: Apache-2.0
// lock_fair.lua and release_fair.lua: who is next, and who is told.
#include "fair_scripts.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Le;

class FairScripts : public on_fair_scripts {};
HOLDFAST_ON_EACH_SERVER(FairScripts);

TEST_P(FairScripts, AFreeLockIsTaken) {
    const std::int64_t before = server_micros();
    const numbers answer = integers_of(ask_fair(ours(1)));
    EXPECT_THAT(answer, ElementsAre(granted, 0, AllOf(Gt(before), Le(server_micros())), 0));
    EXPECT_EQ(count_of(ours(1)), "1");
    EXPECT_THAT(time_left(), AllOf(Gt(29'000), Le(30'000)));
    EXPECT_THAT(queue(), IsEmpty());
}

TEST_P(FairScripts, TakingTwiceIsTakingOnceAndNeverShortens) {
    ask_fair(ours(1));
    EXPECT_EQ(said(ask_fair(ours(1), {.lease = 1'000})), granted);
    EXPECT_EQ(count_of(ours(1)), "1");
    EXPECT_GT(time_left(), 29'000);
    const std::int64_t before = changes();
    ask_fair(ours(1), {.lease = 1'000});
    EXPECT_GT(changes(), before);
    server().command({"PERSIST", name_});
    EXPECT_EQ(said(ask_fair(ours(1))), granted);
    EXPECT_EQ(time_left(), -1);
}

TEST_P(FairScripts, WhoWaitsStandsInTheQueueOnce) {
    ask_fair(ours(1));
    EXPECT_THAT(integers_of(ask_fair(ours(2))),
                ElementsAre(busy, AllOf(Gt(29'000), Le(30'000)), Gt(0), 1));
    EXPECT_THAT(integers_of(ask_fair(ours(3))), ElementsAre(busy, Gt(29'000), Gt(0), 1));
    EXPECT_THAT(integers_of(ask_fair(ours(2))), ElementsAre(busy, Gt(29'000), Gt(0), 0));
    EXPECT_THAT(queue(), ElementsAre(ours(2), ours(3)));
    EXPECT_THAT(place_lasts(ours(2)), AllOf(Gt(19'000), Le(20'002)));
}

TEST_P(FairScripts, OneLookLeavesNoTrace) {
    ask_fair(ours(1));
    EXPECT_THAT(integers_of(ask_fair(ours(2), {.waits = false})),
                ElementsAre(busy, Gt(29'000), Gt(0), 0));
    EXPECT_THAT(queue(), IsEmpty());
}

TEST_P(FairScripts, BusyWithoutAnEndSaysSo) {
    server().command({"HSET", name_, jvm(1), "1"});
    EXPECT_THAT(integers_of(ask_fair(ours(1))), ElementsAre(busy, -1, Gt(0), 1));
}

TEST_P(FairScripts, LateChangesNothing) {
    ask_fair(ours(1));
    EXPECT_THAT(integers_of(ask_fair(ours(2), {.deadline = server_micros() - 1})),
                ElementsAre(late, 0, Gt(0), 0));
    EXPECT_EQ(said(ask_fair(ours(1), {.deadline = server_micros() - 1})), late);
    EXPECT_THAT(queue(), IsEmpty());
    EXPECT_EQ(count_of(ours(1)), "1");
}

TEST_P(FairScripts, TheyAreServedInOrder) {
    ask_fair(ours(1));
    for (int i = 2; i <= 4; ++i)
        ask_fair(ours(i));
    for (int i = 1; i <= 4; ++i) {
        EXPECT_EQ(said(release_fair(ours(i))), 1);
        for (int other = i + 2; other <= 4; ++other)
            EXPECT_EQ(said(ask_fair(ours(other))), busy) << other << " overtakes";
        if (i < 4) {
            EXPECT_EQ(said(ask_fair(ours(i + 1))), granted);
        }
    }
    EXPECT_THAT(keys(), IsEmpty());
}

TEST_P(FairScripts, WhoJustComesDoesNotOvertakeWhoWaits) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    release_fair(ours(1));
    EXPECT_THAT(integers_of(ask_fair(ours(3), {.waits = false})),
                ElementsAre(busy, AllOf(Gt(18'000), Le(20'000)), Gt(0), 0))
        << "free, but another's turn: until the place of that one is over";
    EXPECT_EQ(said(ask_fair(ours(2))), granted);
}

// A JVM that gives up just when it is told tells nobody whose turn it is then: found beside JVMs.
TEST_P(FairScripts, WhoFindsItFreeAndAnothersTurnTellsThatOne) {
    ask_fair(ours(1));
    ask_fair(jvm(2));
    ask_fair(ours(3));
    release_fair(ours(1));
    server().command({"LREM", queue_, "1", jvm(2)});
    server().command({"ZREM", deadlines_, jvm(2)});
    EXPECT_THAT(told_by([&] { ask_fair(ours(4)); }), ElementsAre(ours(3)));
    EXPECT_THAT(told_by([&] { ask_fair(ours(5), {.waits = false}); }), ElementsAre(ours(3)));
    EXPECT_THAT(told_by([&] { ask_fair(ours(3)); }), IsEmpty());
    EXPECT_THAT(told_by([&] { ask_fair(ours(4)); }), IsEmpty()) << "it is held";
}

TEST_P(FairScripts, AReleaseTellsTheNextAlone) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    ask_fair(jvm(3));
    EXPECT_THAT(told_by([&] { release_fair(ours(1)); }), ElementsAre(ours(2)));
}

TEST_P(FairScripts, ReleasingTwiceIsReleasingOnce) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    EXPECT_THAT(integers_of(release_fair(ours(1))), ElementsAre(1, 0));
    EXPECT_THAT(
        told_by([&] { EXPECT_THAT(integers_of(release_fair(ours(1))), ElementsAre(0, 0)); }),
        ElementsAre(ours(2)))
        << "it cannot be told from one that comes too late";
    EXPECT_THAT(queue(), ElementsAre(ours(2)));
}

// Whoever is next knows how long an earlier lease was, and sleeps as long: found beside JVMs.
TEST_P(FairScripts, AReleaseAfterTheLeaseTellsTheNext) {
    ask_fair(ours(1));
    ask_fair(jvm(2));
    server().command({"DEL", name_});
    EXPECT_THAT(told_by([&] { release_fair(ours(1)); }), ElementsAre(jvm(2)));
    server().command({"HSET", name_, ours(3), "1"});
    EXPECT_THAT(told_by([&] { release_fair(ours(1)); }), IsEmpty()) << "it is held";
}

TEST_P(FairScripts, WhoGivesUpLeavesTheQueue) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    ask_fair(ours(3));
    EXPECT_THAT(integers_of(release_fair(ours(2))), ElementsAre(0, 0));
    EXPECT_THAT(queue(), ElementsAre(ours(3)));
    EXPECT_EQ(count_of(ours(1)), "1");
    EXPECT_EQ(ask({"ZCARD", deadlines_}), 1);
}

TEST_P(FairScripts, WhoGivesUpAFreeLockTellsTheNext) {
    ask_fair(ours(1));
    for (int i = 2; i <= 4; ++i)
        ask_fair(ours(i));
    release_fair(ours(1));
    EXPECT_THAT(told_by([&] { release_fair(ours(3)); }), IsEmpty()) << "the head has not changed";
    EXPECT_THAT(told_by([&] { release_fair(ours(2)); }), ElementsAre(ours(4)));
}

TEST_P(FairScripts, OthersAreThoseOfOtherClients) {
    support::redis_connection mine{server().socket_path()}, other{server().socket_path()};
    mine.command({"SUBSCRIBE", channel_ + ":" + ours(2)});
    other.command({"SUBSCRIBE", channel_ + ":" + jvm(3)});
    ask_fair(ours(1));
    ask_fair(ours(2));
    EXPECT_THAT(integers_of(release_fair(ours(1))), ElementsAre(1, 0));
    ask_fair(ours(2));
    ask_fair(jvm(3));
    EXPECT_THAT(integers_of(release_fair(ours(2))), ElementsAre(1, 1));
}

TEST_P(FairScripts, APlainReleaseEndsAFairHoldToo) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    EXPECT_EQ(integers_of(release(ours(1)))[0], 1);
    EXPECT_EQ(said(ask_fair(ours(2))), granted);
}

TEST_P(FairScripts, AForcedUnlockTellsTheHead) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    ask_fair(ours(3));
    EXPECT_THAT(told_by([&] { force(); }), ElementsAre("", ours(2)));
    EXPECT_EQ(said(ask_fair(ours(2))), granted);
}

// Whoever has no score never counts; who has one counts until then.

TEST_P(FairScripts, AnEntryWithoutAScoreBlocksNobody) {
    stands_in_queue(ours(8), std::nullopt);
    stands_in_queue(jvm(9), std::nullopt);
    EXPECT_EQ(said(ask_fair(ours(1))), granted);
    EXPECT_THAT(queue(), IsEmpty());
}

TEST_P(FairScripts, AnOwnEntryWithoutAScoreIsConfirmed) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    server().command({"ZREM", deadlines_, ours(2)});
    EXPECT_THAT(integers_of(ask_fair(ours(2))), ElementsAre(busy, Gt(0), Gt(0), 0));
    EXPECT_GT(place_lasts(ours(2)), 19'000);
    EXPECT_THAT(queue(), ElementsAre(ours(2)));
}

TEST_P(FairScripts, SomethingElseUnderTheNameIsRefused) {
    server().command({"RPUSH", name_, "x"});
    EXPECT_TRUE(is_error(ask_fair(ours(1)), "WRONGTYPE"));
    EXPECT_THAT(queue(), IsEmpty());
    EXPECT_THAT(integers_of(release_fair(ours(1))), ElementsAre(0, 0));
}

TEST_P(FairScripts, AQueueThatIsNoneIsRefusedAndNothingIsTaken) {
    server().command({"SET", queue_, "x"});
    EXPECT_TRUE(is_error(ask_fair(ours(1)), "WRONGTYPE"));
    EXPECT_FALSE(exists());
}

TEST_P(FairScripts, DeadlinesThatAreNoneAreRefusedAndNothingIsTaken) {
    server().command({"RPUSH", queue_, ours(1)});
    server().command({"SET", deadlines_, "x"});
    EXPECT_TRUE(is_error(ask_fair(ours(1)), "WRONGTYPE"));
    EXPECT_FALSE(exists());
}

TEST_P(FairScripts, AReleaseSucceedsWhateverBecameOfTheQueue) {
    for (const std::string& broken : {queue_, deadlines_}) {
        server().command({"FLUSHALL"});
        ask_fair(ours(1));
        ask_fair(ours(2));
        server().command({"SET", broken, "x"});
        EXPECT_EQ(said(release_fair(ours(1))), 1) << broken;
        EXPECT_FALSE(exists());
    }
}

} // namespace
} // namespace holdfast
