// SPDX-License-Identifier: Apache-2.0
// lock_fenced.lua and last_token.lua on a server that is full, a replica, or lets them do only so
// much: no token is given twice, and no lock is taken without one.
#include "scripts_limited.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::ElementsAre;
using ::testing::Gt;

class FencedScriptsInTrouble : public on_limited_scripts {
protected:
    void expect_nothing_taken() {
        EXPECT_FALSE(exists());
        EXPECT_EQ(ask({"EXISTS", tokens_}), 0);
    }
};
HOLDFAST_ON_EACH_SERVER(FencedScriptsInTrouble);

TEST_P(FencedScriptsInTrouble, AFullServerGrantsAndReservesNothing) {
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_TRUE(is_error(fence(alice), "OOM"));
    EXPECT_EQ(last_token().integer, 0);
    expect_nothing_taken();
}

TEST_P(FencedScriptsInTrouble, ALeaseThatIsNoLengthOfTimeLeavesNoLock) {
    const redis::reply said = run(redis::scripts::lock_fenced, {name_, tokens_},
                                  {"99999999999999999999", alice, "0", "1", "0"});
    EXPECT_EQ(said.type, redis::reply::kind::error);
    EXPECT_FALSE(exists());
    EXPECT_EQ(integers_of(fence(bob)).at(3), 2) << "a token is wasted, and none given twice";
}

TEST_P(FencedScriptsInTrouble, WithoutTheRightToSetAnEndNothingIsHeld) {
    deny("pexpire");
    EXPECT_EQ(fence(alice).type, redis::reply::kind::error);
    EXPECT_FALSE(exists());
}

TEST_P(FencedScriptsInTrouble, WithoutTheRightToTellTimeCountedTokensHaveNoDeadline) {
    const std::int64_t long_ago = server_micros() - 1'000'000;
    deny("time");
    EXPECT_THAT(integers_of(fence(alice, {.deadline = long_ago})), ElementsAre(1, 0, 0, 1));
    EXPECT_THAT(integers_of(fence(bob, {.deadline = long_ago})), ElementsAre(0, Gt(0), 0, 0));
}

TEST_P(FencedScriptsInTrouble, WithoutTheRightToTellTimeDatedTokensAreRefused) {
    deny("time");
    EXPECT_EQ(fence(alice, {.dated = true}).type, redis::reply::kind::error);
    expect_nothing_taken();
}

TEST_P(FencedScriptsInTrouble, WithoutTheRightToPublishItIsReleasedAndTheTokensStay) {
    deny("publish");
    fence(alice, {.tokens = 3});
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, -1));
    EXPECT_FALSE(exists());
    EXPECT_EQ(last_token().integer, 3);
}

TEST_P(FencedScriptsInTrouble, WithoutTheRightToReserveOrLookNothingIsTaken) {
    for (const char* each : {"get", "incrby"}) {
        deny(each);
        EXPECT_EQ(fence(alice).type, redis::reply::kind::error) << each;
        expect_nothing_taken();
    }
}

TEST_P(FencedScriptsInTrouble, WithoutTheKeyOfTheTokensNothingIsTaken) {
    become({"~L", "&*", "+@all"});
    EXPECT_EQ(fence(alice).type, redis::reply::kind::error);
    EXPECT_EQ(last_token().type, redis::reply::kind::error);
    expect_nothing_taken();
    become({"~L", "~redisson_lock_token:*", "&*", "+@all"});
    EXPECT_THAT(integers_of(fence(alice)), ElementsAre(1, 0, Gt(0), 1));
    EXPECT_EQ(last_token().integer, 1);
}

TEST_P(FencedScriptsInTrouble, OnAReplicaNothingIsGrantedOrReserved) {
    fence(alice);
    server().command({"REPLICAOF", "127.0.0.1", "1"});
    EXPECT_TRUE(is_error(fence(alice, {.lease = 1}), "READONLY")) << "its own repetition";
    EXPECT_TRUE(is_error(release(alice), "READONLY"));
    name_ = "another";
    tokens_ = "redisson_lock_token:{another}";
    EXPECT_TRUE(is_error(fence(alice), "READONLY"));
    EXPECT_EQ(last_token().integer, 0) << "a replica may tell what it knows";
}

} // namespace
} // namespace holdfast
