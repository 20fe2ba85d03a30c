// SPDX-License-Identifier: Apache-2.0
// The scripts on a server that is full, forgetful, a replica, or lets them do only so much.
#include "scripts_limited.hpp"

namespace holdfast {
namespace {

using support::integers_of;
using ::testing::ElementsAre;

class ScriptsInTrouble : public on_limited_scripts {};
HOLDFAST_ON_EACH_SERVER(ScriptsInTrouble);

TEST_P(ScriptsInTrouble, AKeyThatIsNoLockIsNeverTouched) {
    const std::vector<std::vector<std::string>> others{{"SET", name_, "x"},
                                                       {"RPUSH", name_, "x"},
                                                       {"SADD", name_, "x"},
                                                       {"ZADD", name_, "1", "x"},
                                                       {"XADD", name_, "1-1", "x", "y"}};
    for (const std::vector<std::string>& other : others) {
        server().command({"DEL", name_});
        server().command(other);
        const std::string before = server().command({"DUMP", name_}).text;
        EXPECT_TRUE(is_error(lock(alice, 30'000), "WRONGTYPE")) << other[0];
        EXPECT_TRUE(is_error(force(), "WRONGTYPE")) << other[0];
        // A string may be the token of any program.
        EXPECT_EQ(is_error(inspect(), "WRONGTYPE"), other[0] != "SET") << other[0];
        // The hold is certainly gone, and that is an answer.
        EXPECT_THAT(integers_of(release(alice)), ElementsAre(0, 0)) << other[0];
        EXPECT_THAT(integers_of(renew({name_}, 30'000, {alice})), ElementsAre(0)) << other[0];
        EXPECT_EQ(server().command({"DUMP", name_}).text, before) << other[0];
        EXPECT_EQ(time_left(), -1) << other[0];
    }
}

TEST_P(ScriptsInTrouble, AFullServerGrantsNothingButReleases) {
    lock(alice, 10'000);
    server().command({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_THAT(integers_of(renew({name_}, 30'000, {alice})), ElementsAre(1));
    EXPECT_GT(time_left(), 29'000);
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, 0));
    EXPECT_TRUE(is_error(lock(bob, 30'000), "OOM"));
    EXPECT_FALSE(exists());
}

TEST_P(ScriptsInTrouble, ALeaseThatIsNoLengthOfTimeLeavesNothing) {
    const redis::reply said =
        run(redis::scripts::lock_mutex, {name_}, {"99999999999999999999", alice, "0"});
    EXPECT_EQ(said.type, redis::reply::kind::error);
    EXPECT_FALSE(exists());
}

TEST_P(ScriptsInTrouble, WithoutTheRightToSetAnEndNothingIsHeld) {
    deny("pexpire");
    EXPECT_EQ(lock(alice, 30'000).type, redis::reply::kind::error);
    EXPECT_FALSE(exists());
}

TEST_P(ScriptsInTrouble, WithoutTheRightToPublishALockIsStillReleased) {
    deny("publish");
    lock(alice, 30'000);
    EXPECT_THAT(integers_of(release(alice)), ElementsAre(1, -1));
    EXPECT_FALSE(exists());
    lock(alice, 30'000);
    EXPECT_EQ(integers_of(force()).at(0), 1);
    EXPECT_FALSE(exists());
}

TEST_P(ScriptsInTrouble, WithoutTheRightToTellTimeThereIsNoDeadline) {
    const std::int64_t long_ago = server_micros() - 1'000'000;
    deny("time");
    EXPECT_THAT(integers_of(lock(alice, 30'000, long_ago)), ElementsAre(1, 0, 0));
    EXPECT_THAT(integers_of(lock(bob, 30'000, long_ago))[2], 0);
}

TEST_P(ScriptsInTrouble, WithoutRightsOnAQueueALockIsStillForced) {
    for (const char* each : {"lrange", "zscore", "time", "publish"}) {
        limited_.reset();
        server().command({"DEL", name_});
        lock(alice, 30'000);
        server().command({"RPUSH", "redisson_lock_queue:{L}", bob});
        deny(each);
        EXPECT_EQ(integers_of(force()).at(0), 1) << each;
        EXPECT_FALSE(exists());
    }
}

TEST_P(ScriptsInTrouble, WithoutRightsNoHoldIsCalledLost) {
    lock(alice, 30'000);
    deny("hexists");
    EXPECT_EQ(renew({name_}, 30'000, {alice}).type, redis::reply::kind::error);
    deny("hdel");
    EXPECT_EQ(release(alice).type, redis::reply::kind::error);
    EXPECT_TRUE(exists());
}

TEST_P(ScriptsInTrouble, OnAReplicaNothingIsGrantedExtendedOrCalledLost) {
    lock(alice, 10'000);
    server().command({"REPLICAOF", "127.0.0.1", "1"});
    EXPECT_TRUE(is_error(renew({name_}, 30'000, {alice}), "READONLY"));
    EXPECT_TRUE(is_error(renew({name_}, 1, {alice}), "READONLY"));
    EXPECT_TRUE(is_error(renew({name_}, 0, {alice}), "READONLY"));
    EXPECT_TRUE(is_error(lock(alice, 1), "READONLY")); // its own repetition
    EXPECT_TRUE(is_error(release(alice), "READONLY"));
    EXPECT_TRUE(is_error(release(bob), "READONLY")); // what it has may be old news
    EXPECT_TRUE(is_error(force(), "READONLY"));
    name_ = "another";
    EXPECT_TRUE(is_error(lock(alice, 30'000), "READONLY"));
}

TEST_P(ScriptsInTrouble, TheDigestsAreTheServersOwn) {
    for (const redis::script& each :
         {redis::scripts::lock_mutex, redis::scripts::release_mutex, redis::scripts::renew_leases,
          redis::scripts::force_lock, redis::scripts::inspect_lock, redis::scripts::lock_fenced,
          redis::scripts::last_token}) {
        const std::string digest{each.sha1};
        EXPECT_EQ(server().command({"SCRIPT", "LOAD", std::string{each.text}}).text, digest);
        EXPECT_FALSE(is_error(server().command({"EVALSHA", digest, "1", name_}), "NOSCRIPT"));
        server().command({"SCRIPT", "FLUSH"});
        EXPECT_TRUE(is_error(server().command({"EVALSHA", digest, "1", name_}), "NOSCRIPT"));
    }
}

} // namespace
} // namespace holdfast
