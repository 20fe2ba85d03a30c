// SPDX-License-Identifier: Apache-2.0
// lock_fair.lua and release_fair.lua on a server that is full, a replica, or lets them do only so
// much.
#include "fair_scripts.hpp"
#include "redis/wire/rights.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

} // namespace
} // namespace holdfast
