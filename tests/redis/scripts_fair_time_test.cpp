// SPDX-License-Identifier: Apache-2.0
// lock_fair.lua and release_fair.lua: for how long a place counts. The server's clock is moved.
#include "fair_scripts.hpp"

namespace holdfast {
namespace {

using std::chrono::seconds;
using support::integers_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::Le;

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
    EXPECT_THAT(place_lasts(ours(2)), AllOf(Gt(19'000), Le(20'002)));
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
    EXPECT_THAT(place_lasts(ours(3)), AllOf(Gt(319'000), Le(320'002)));
    EXPECT_THAT(place_lasts(ours(5)), AllOf(Gt(619'000), Le(620'002)));
}

TEST_P(FairScriptsInTime, APlaceIsShortAgainWhenItIsFirst) {
    ask_fair(ours(1));
    stands_in_queue(jvm(2), 300'000);
    ask_fair(ours(3));
    ask_fair(ours(4));
    server().command({"LREM", queue_, "0", jvm(2)}); // its give-up, which subtracts its own wait
    server().command({"ZREM", deadlines_, jvm(2)});
    ask_fair(ours(4));
    EXPECT_THAT(place_lasts(ours(3)), AllOf(Gt(19'000), Le(20'002)));
}

TEST_P(FairScriptsInTime, AReleaseShortensThePlaceOfTheFirstToo) {
    ask_fair(ours(1));
    stands_in_queue(jvm(2), 300'000);
    ask_fair(ours(3));
    server().command({"LREM", queue_, "0", jvm(2)});
    release_fair(ours(1));
    EXPECT_THAT(place_lasts(ours(3)), AllOf(Gt(19'000), Le(20'002)));
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
    EXPECT_THAT(place_lasts(jvm(3)), AllOf(Gt(299'000), Le(300'000)));
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
    EXPECT_THAT(place_lasts(jvm(3)), AllOf(Gt(328'000), Le(330'000)));
    release_fair(ours(2));
    EXPECT_THAT(place_lasts(jvm(3)), AllOf(Gt(298'000), Le(300'000)));

    server().command({"ZADD", deadlines_, std::to_string(server_ms() + 900'000), jvm(3)});
    ask_fair(ours(4));
    EXPECT_THAT(place_lasts(jvm(3)), AllOf(Gt(298'000), Le(300'000)))
        << "it was made first by another JVM";

    server().command({"ZADD", deadlines_, std::to_string(server_ms() + 900'000), jvm(3)});
    server().command({"HSET", name_, jvm(9), "1"}); // without an end
    ask_fair(ours(4));
    EXPECT_GT(place_lasts(jvm(3)), 898'000);
}

TEST_P(FairScriptsInTime, OneScriptTakesAwayOneJvmAtMostAndTellsTheNext) {
    stands_in_queue(jvm(1), -5);
    stands_in_queue(jvm(2), -5);
    EXPECT_THAT(told_by([&] {
                    EXPECT_THAT(integers_of(ask_fair(ours(3))),
                                ElementsAre(busy, AllOf(Gt(299'000), Le(300'000)), Gt(0), 1));
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
    EXPECT_GT(place_lasts(jvm(3)), 299'000);
}

TEST_P(FairScriptsInTime, WhoLeavesBeginsTheTurnOfTheJvmBehind) {
    ask_fair(ours(1));
    ask_fair(ours(2));
    stands_in_queue(jvm(3), 1'000);
    release_fair(ours(2));
    EXPECT_GT(place_lasts(jvm(3)), 299'000);
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

} // namespace
} // namespace holdfast
