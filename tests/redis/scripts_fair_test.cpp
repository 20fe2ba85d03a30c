// SPDX-License-Identifier: Apache-2.0
// lock_fair.lua and release_fair.lua: which waiter is next, and which waiter is notified.
#include "redis/client/error_replies.hpp"
#include "scripts_fixture.hpp"

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
    EXPECT_THAT(time_left(), AllOf(Gt(24'000), Le(30'000)));
    EXPECT_THAT(queue(), IsEmpty());
}

TEST_P(FairScripts, TakingTwiceIsTakingOnceAndNeverShortens) {
    ask_fair(ours(1));
    EXPECT_EQ(said(ask_fair(ours(1), {.lease = 1'000})), granted);
    EXPECT_EQ(count_of(ours(1)), "1");
    EXPECT_GT(time_left(), 24'000);
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
                ElementsAre(busy, AllOf(Gt(24'000), Le(30'000)), Gt(0), 1));
    EXPECT_THAT(integers_of(ask_fair(ours(3))), ElementsAre(busy, Gt(24'000), Gt(0), 1));
    EXPECT_THAT(integers_of(ask_fair(ours(2))), ElementsAre(busy, Gt(24'000), Gt(0), 0));
    EXPECT_THAT(queue(), ElementsAre(ours(2), ours(3)));
    EXPECT_THAT(place_lasts(ours(2)), AllOf(Gt(14'000), Le(20'002)));
}

TEST_P(FairScripts, OneLookLeavesNoTrace) {
    ask_fair(ours(1));
    EXPECT_THAT(integers_of(ask_fair(ours(2), {.waits = false})),
                ElementsAre(busy, Gt(24'000), Gt(0), 0));
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
                ElementsAre(busy, AllOf(Gt(14'000), Le(20'000)), Gt(0), 0))
        << "free, but another's turn: until the place of that one is over";
    EXPECT_EQ(said(ask_fair(ours(2))), granted);
}

// A JVM that gives up at the moment of its notification does not notify the next waiter. This was
// found in tests with JVMs.
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

// The next waiter knows the length of an earlier lease and sleeps for this time. This was found in
// tests with JVMs.
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
    EXPECT_GT(place_lasts(ours(2)), 14'000);
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

// lock_fair.lua and release_fair.lua: for how long a place counts. The server's clock is moved.

using std::chrono::seconds;

class FairScriptsInTime : public on_fair_scripts {
protected:
    FairScriptsInTime()
        : on_fair_scripts{{.own_clock = true}} {}

    void pass(seconds by) { server().step_clock(by); }
};
HOLDFAST_ON_EACH_SERVER(FairScriptsInTime);

TEST_P(FairScriptsInTime, APlaceThatNobodyLooksAfterIsOver) {
    ask_fair(ours(1), {.lease = 60'000});
    ask_fair(ours(2));
    ask_fair(ours(3));
    pass(seconds{15});
    ask_fair(ours(3));
    pass(seconds{10});
    release_fair(ours(1));
    EXPECT_EQ(said(ask_fair(ours(3))), granted);
    EXPECT_THAT(keys(), ElementsAre(name_));
}

TEST_P(FairScriptsInTime, ALookKeepsThePlace) {
    ask_fair(ours(1), {.lease = 300'000});
    ask_fair(ours(2));
    for (int i = 0; i < 10; ++i) {
        pass(seconds{15});
        EXPECT_EQ(integers_of(ask_fair(ours(2))).at(3), 0) << "it had lost its place";
    }
    EXPECT_THAT(place_lasts(ours(2)), AllOf(Gt(14'000), Le(20'002)));
}

TEST_P(FairScriptsInTime, WhoComesBackTooLateGoesOnFromTheEnd) {
    ask_fair(ours(1), {.lease = 60'000});
    ask_fair(ours(2));
    pass(seconds{21});
    ask_fair(ours(3));
    EXPECT_THAT(integers_of(ask_fair(ours(2))), ElementsAre(busy, Gt(0), Gt(0), 1));
    EXPECT_THAT(queue(), ElementsAre(ours(3), ours(2)));
}

TEST_P(FairScriptsInTime, TheHeadKeepsItsPlaceByItself) {
    ask_fair(ours(1), {.lease = 60'000});
    ask_fair(ours(2));
    pass(seconds{21}); // nobody has looked meanwhile
    EXPECT_THAT(integers_of(ask_fair(ours(2))), ElementsAre(busy, Gt(0), Gt(0), 0));
}

TEST_P(FairScriptsInTime, ManyWhoDiedAreTakenAwayAtOnce) {
    ask_fair(ours(1));
    for (int i = 2; i < 50; ++i)
        ask_fair(ours(i));
    pass(seconds{31});
    EXPECT_EQ(said(ask_fair(ours(60))), granted);
    EXPECT_THAT(keys(), ElementsAre(name_));
}

TEST_P(FairScriptsInTime, BehindAJvmAPlaceLastsForItsWaitToo) {
    ask_fair(ours(1));
    stands_in_queue(jvm(2), 300'000);
    ask_fair(ours(3));
    stands_in_queue(jvm(4), 300'000);
    ask_fair(ours(5));
    EXPECT_THAT(place_lasts(ours(3)), AllOf(Gt(314'000), Le(320'002)));
    EXPECT_THAT(place_lasts(ours(5)), AllOf(Gt(614'000), Le(620'002)));
}

TEST_P(FairScriptsInTime, APlaceIsShortAgainWhenItIsFirst) {
    ask_fair(ours(1));
    stands_in_queue(jvm(2), 300'000);
    ask_fair(ours(3));
    ask_fair(ours(4));
    server().command({"LREM", queue_, "0", jvm(2)}); // its give-up, which subtracts its own wait
    server().command({"ZREM", deadlines_, jvm(2)});
    ask_fair(ours(4));
    EXPECT_THAT(place_lasts(ours(3)), AllOf(Gt(14'000), Le(20'002)));
}

TEST_P(FairScriptsInTime, AReleaseShortensThePlaceOfTheFirstToo) {
    ask_fair(ours(1));
    stands_in_queue(jvm(2), 300'000);
    ask_fair(ours(3));
    server().command({"LREM", queue_, "0", jvm(2)});
    release_fair(ours(1));
    EXPECT_THAT(place_lasts(ours(3)), AllOf(Gt(14'000), Le(20'002)));
}

TEST_P(FairScriptsInTime, AJvmsTurnBeginsWhenItIsFirst) {
    ask_fair(ours(1));
    stands_in_queue(ours(2), 20'000);
    stands_in_queue(jvm(3), 1'000);
    pass(seconds{25});
    EXPECT_THAT(told_by([&] {
                    EXPECT_THAT(integers_of(ask_fair(ours(9))),
                                ElementsAre(busy, Gt(4'000), Gt(0), 1));
                }),
                ElementsAre());
    EXPECT_THAT(queue(), ElementsAre(jvm(3), ours(9)));
    EXPECT_THAT(place_lasts(jvm(3)), AllOf(Gt(294'000), Le(300'000)));
    pass(seconds{295});
    EXPECT_EQ(said(ask_fair(ours(9))), busy);
    pass(seconds{6});
    EXPECT_EQ(said(ask_fair(ours(9))), granted);
}

TEST_P(FairScriptsInTime, AJvmThatIsFirstHasNoMoreThanItsWaitFromTheEndOfTheLease) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    stands_in_queue(jvm(3), 1'830'000); // as Redisson adds it up behind five of its own and ours
    release_fair(ours(1));
    EXPECT_EQ(said(ask_fair(ours(2))), granted);
    EXPECT_THAT(place_lasts(jvm(3)), AllOf(Gt(324'000), Le(330'000)));
    release_fair(ours(2));
    EXPECT_THAT(place_lasts(jvm(3)), AllOf(Gt(294'000), Le(300'000)));

    server().command({"ZADD", deadlines_, std::to_string(server_ms() + 900'000), jvm(3)});
    ask_fair(ours(4));
    EXPECT_THAT(place_lasts(jvm(3)), AllOf(Gt(294'000), Le(300'000)))
        << "it was made first by another JVM";

    server().command({"ZADD", deadlines_, std::to_string(server_ms() + 900'000), jvm(3)});
    server().command({"HSET", name_, jvm(9), "1"}); // without an end
    ask_fair(ours(4));
    EXPECT_GT(place_lasts(jvm(3)), 894'000);
}

TEST_P(FairScriptsInTime, OneScriptTakesAwayOneJvmAtMostAndTellsTheNext) {
    stands_in_queue(jvm(1), -5);
    stands_in_queue(jvm(2), -5);
    EXPECT_THAT(told_by([&] {
                    EXPECT_THAT(integers_of(ask_fair(ours(3))),
                                ElementsAre(busy, AllOf(Gt(294'000), Le(300'000)), Gt(0), 1));
                }),
                ElementsAre(jvm(2)));
    EXPECT_THAT(queue(), ElementsAre(jvm(2), ours(3)));
}

TEST_P(FairScriptsInTime, WhoTakesTheLockBeginsTheTurnOfTheJvmBehind) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    stands_in_queue(jvm(3), 1'000);
    release_fair(ours(1));
    EXPECT_EQ(said(ask_fair(ours(2))), granted);
    EXPECT_GT(place_lasts(jvm(3)), 294'000);
}

TEST_P(FairScriptsInTime, WhoLeavesBeginsTheTurnOfTheJvmBehind) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    stands_in_queue(jvm(3), 1'000);
    release_fair(ours(2));
    EXPECT_GT(place_lasts(jvm(3)), 294'000);
    server().command({"ZADD", deadlines_, "XX", std::to_string(server_ms() + 7'000), jvm(3)});
    release_fair(ours(1));
    EXPECT_LE(place_lasts(jvm(3)), 7'000) << "its turn had begun before";
}

TEST_P(FairScriptsInTime, WhoseTimeIsOverIsToldTooBesideTheNext) {
    ask_fair(ours(1), {.lease = 60'000});
    ask_fair(ours(2));
    pass(seconds{21});
    stands_in_queue(ours(3), 20'000);
    stands_in_queue(ours(4), 20'000);
    EXPECT_THAT(told_by([&] { release_fair(ours(1)); }), ElementsAre(ours(2), ours(3)));
}

// lock_fair.lua and release_fair.lua on a server that is full, a replica, or lets them do only so
// much.

class FairScriptsInTrouble : public on_fair_scripts {};
HOLDFAST_ON_EACH_SERVER(FairScriptsInTrouble);

TEST_P(FairScriptsInTrouble, WithoutTheRightToTellTimeItIsRefused) {
    deny("time");
    const redis::reply said = ask_fair(ours(1));
    ASSERT_EQ(said.type, redis::reply::kind::error);
    EXPECT_EQ(redis::missing_right(said.text, redis::scripts::lock_fair, {}), "+time") << said.text;
    EXPECT_THAT(keys(), IsEmpty());
}

TEST_P(FairScriptsInTrouble, WithoutTheRightToTellTimeAHoldIsStillReleasedAndTheNextTold) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    deny("time");
    EXPECT_THAT(told_by([&] { EXPECT_EQ(said(release_fair(ours(1))), 1); }), ElementsAre(ours(2)));
}

TEST_P(FairScriptsInTrouble, WithoutTheRightToPublishItIsStillReleased) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    deny("publish");
    EXPECT_THAT(integers_of(release_fair(ours(1))), ElementsAre(1, -1));
    EXPECT_FALSE(exists());
}

TEST_P(FairScriptsInTrouble, WithoutTheRightToSetAnEndNothingIsHeldAndThePlaceStays) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    release_fair(ours(1));
    deny("pexpire");
    EXPECT_EQ(ask_fair(ours(2)).type, redis::reply::kind::error);
    EXPECT_FALSE(exists());
    EXPECT_THAT(queue(), ElementsAre(ours(2)));
}

TEST_P(FairScriptsInTrouble, APlaceThatCouldNotBeMadeBlocksNobody) {
    for (const char* each : {"rpush", "zadd"}) {
        allow_all();
        server().command({"FLUSHALL"});
        ask_fair(ours(1));
        deny(each);
        EXPECT_EQ(ask_fair(ours(2)).type, redis::reply::kind::error) << each;
        allow_all();
        release_fair(ours(1));
        EXPECT_EQ(said(ask_fair(ours(3))), granted) << each;
        EXPECT_THAT(keys(), ElementsAre(name_)) << each;
    }
}

TEST_P(FairScriptsInTrouble, AFullServerGrantsNothingButReleasesAndIsLeft) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    ask_fair(jvm(3));
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_TRUE(is_error(ask_fair(ours(4)), "OOM"));
    const auto waits_on = integers_of(ask_fair(ours(2)));
    EXPECT_EQ(waits_on.at(0), busy);
    EXPECT_EQ(waits_on.at(3), 2) << "its place cannot be written anew, and is there";
    EXPECT_THAT(queue(), ElementsAre(ours(2), jvm(3)));
    EXPECT_THAT(integers_of(release_fair(ours(2))), ElementsAre(0, 0));
    EXPECT_EQ(said(release_fair(ours(1))), 1);
    EXPECT_THAT(queue(), ElementsAre(jvm(3)));
    EXPECT_TRUE(is_error(ask_fair(jvm(3)), "OOM"));
    EXPECT_FALSE(exists());
    EXPECT_THAT(queue(), ElementsAre(jvm(3)));
}

TEST_P(FairScriptsInTrouble, OnAReplicaNothingIsGrantedOrReleased) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    server().command({"REPLICAOF", "127.0.0.1", "1"});
    EXPECT_TRUE(is_error(ask_fair(ours(1), {.lease = 1}), "READONLY"));
    EXPECT_TRUE(is_error(ask_fair(ours(2)), "READONLY"));
    EXPECT_TRUE(is_error(release_fair(ours(1)), "READONLY"));
    EXPECT_TRUE(is_error(release_fair(ours(9)), "READONLY"));
}

TEST_P(FairScriptsInTrouble, ALeaseThatIsNoLengthOfTimeLeavesNothing) {
    const redis::reply answer =
        run(redis::scripts::lock_fair, {name_, queue_, deadlines_},
            {"99999999999999999999", ours(1), "0", channel_, "PUBLISH", "1", "20000", "300000"});
    EXPECT_EQ(answer.type, redis::reply::kind::error);
    EXPECT_THAT(keys(), IsEmpty());
}

// lock_fair.lua and release_fair.lua where more wait than one script reads.

class FairScriptsInACrowd : public on_fair_scripts {
protected:
    static constexpr int crowd = 2'500; // ours(1) to ours(crowd); 1,000 are read, or taken away

    void have_a_crowd(std::int64_t lasts) {
        std::vector<std::string> push{"RPUSH", queue_}, times{"ZADD", deadlines_};
        for (int i = 1; i <= crowd; ++i) {
            push.push_back(ours(i));
            times.push_back(std::to_string(server_ms() + lasts));
            times.push_back(ours(i));
        }
        (void)server().command(push);
        (void)server().command(times);
    }
    std::int64_t waiting() { return server().command({"LLEN", queue_}).integer; }
};
HOLDFAST_ON_EACH_SERVER(FairScriptsInACrowd);

TEST_P(FairScriptsInACrowd, WhoIsFarBehindHasOnePlaceAndKeepsIt) {
    ask_fair(jvm(1));
    have_a_crowd(60'000);
    EXPECT_THAT(integers_of(ask_fair(ours(9'999))), ElementsAre(busy, Gt(0), Gt(0), 1));
    EXPECT_THAT(integers_of(ask_fair(ours(9'999))), ElementsAre(busy, Gt(0), Gt(0), 0));
    EXPECT_EQ(waiting(), crowd + 1);
    EXPECT_THAT(place_lasts(ours(9'999)), AllOf(Gt(14'000), Le(20'002)));
    EXPECT_THAT(integers_of(ask_fair(ours(crowd))), ElementsAre(busy, Gt(0), Gt(0), 0));
    EXPECT_THAT(integers_of(release_fair(ours(9'999))), ElementsAre(0, 0));
    EXPECT_EQ(waiting(), crowd);
    EXPECT_EQ(ask({"ZCARD", deadlines_}), crowd);
}

TEST_P(FairScriptsInACrowd, WhoDiedIsTakenAwayAThousandAtATime) {
    have_a_crowd(-1);
    EXPECT_THAT(integers_of(ask_fair(jvm(1), {.waits = false})), ElementsAre(busy, 1, Gt(0), 0));
    EXPECT_EQ(waiting(), crowd - 1'000);
    ask_fair(jvm(1), {.waits = false});
    EXPECT_EQ(waiting(), crowd - 2'000);
    EXPECT_EQ(said(ask_fair(jvm(1), {.waits = false})), granted);
    EXPECT_EQ(waiting(), 0);
}

} // namespace
} // namespace holdfast
