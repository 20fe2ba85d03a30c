// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/slot_map.hpp"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::redis {

void PrintTo(const server_address& where, std::ostream* out) {
    *out << where.host << " port " << where.port;
}

namespace {

using kind = redirection::kind;
using outcome = redirection::outcome;

redirection of(std::string_view error) {
    return read_redirection(error, "asked.internal");
}
server_address target(std::string_view error) {
    const redirection told = of(error);
    EXPECT_TRUE(told.what == kind::moved || told.what == kind::ask) << error;
    return told.to;
}

TEST(Redirection, MovedNamesTheSlotAndItsServer) {
    const redirection told = of("MOVED 3999 127.0.0.1:6381");
    EXPECT_EQ(told.what, kind::moved);
    EXPECT_EQ(told.done, outcome::not_carried_out);
    EXPECT_EQ(told.slot, 3999);
    EXPECT_EQ(told.to, (server_address{"127.0.0.1", 6381}));
    EXPECT_TRUE(told.refresh);
    EXPECT_FALSE(told.pause_first);
    EXPECT_FALSE(told.cut);
}

TEST(Redirection, AskChangesNoMap) {
    const redirection told = of("ASK 16383 db2.internal:6379");
    EXPECT_EQ(told.what, kind::ask);
    EXPECT_EQ(told.done, outcome::not_carried_out);
    EXPECT_EQ(told.slot, 16383);
    EXPECT_EQ(told.to, (server_address{"db2.internal", 6379}));
    EXPECT_FALSE(told.refresh);
    EXPECT_FALSE(told.pause_first);
    EXPECT_FALSE(told.cut);
}

TEST(Redirection, TakesAddressesAsServersWriteThem) {
    EXPECT_EQ(target("MOVED 0 ::1:6381"), (server_address{"::1", 6381}));
    EXPECT_EQ(target("MOVED 0 [::1]:6381"), (server_address{"::1", 6381}));
    EXPECT_EQ(target("MOVED 0 fe80::1%eth0:1"), (server_address{"fe80::1%eth0", 1}));
    EXPECT_EQ(target("MOVED 0 h:65535"), (server_address{"h", 65535}));
}

TEST(Redirection, NoHostIsTheOneThatWasAsked) {
    EXPECT_EQ(target("MOVED 1 :6381"), (server_address{"asked.internal", 6381}));
    EXPECT_EQ(target("ASK 1 ?:6381"), (server_address{"asked.internal", 6381}));
}

TEST(Redirection, WithoutSenseWaitsForBetterNews) {
    for (const char* error : {"MOVED",
                              "MOVED ",
                              "MOVED 3999",
                              "MOVED 3999 ",
                              "MOVED 3999 127.0.0.1",
                              "MOVED 3999 127.0.0.1:",
                              "MOVED 3999 127.0.0.1:0",
                              "MOVED 3999 127.0.0.1:65536",
                              "MOVED 3999 127.0.0.1:-1",
                              "MOVED 3999 127.0.0.1:6381x",
                              "MOVED 16384 127.0.0.1:6381",
                              "MOVED -1 127.0.0.1:6381",
                              "MOVED 99999999999 127.0.0.1:6381",
                              "MOVED x 127.0.0.1:6381",
                              "MOVED  3999 127.0.0.1:6381",
                              "MOVED 3999  127.0.0.1:6381",
                              "MOVED 3999127.0.0.1:6381",
                              "MOVED 39x127.0.0.1:6381",
                              "MOVED 3999 a b:6381",
                              "MOVED 3999 /tmp/socket:6381",
                              "ASK 3999 /tmp/socket:6381",
                              "ASK 3999 [/tmp/socket]:6381",
                              "MOVED 3999 a\n:6381",
                              "ASK 3999",
                              "ASK"}) {
        const redirection told = of(error);
        EXPECT_EQ(told.what, kind::pause) << error;
        EXPECT_EQ(told.done, outcome::not_carried_out) << error;
        EXPECT_EQ(told.to, server_address{}) << error;
        EXPECT_TRUE(told.refresh && told.pause_first) << error;
    }
    EXPECT_EQ(of("MOVED 1 " + std::string(254, 'a') + ":1").what, kind::pause);
    EXPECT_EQ(read_redirection("MOVED 1 :1", "").what, kind::pause);
}

TEST(Redirection, WhatNobodyServesIsAskedAgainAfterAPause) {
    for (const char* error :
         {"TRYAGAIN Multiple keys request during rehashing of slot",
          "CLUSTERDOWN The cluster is down", "CLUSTERDOWN Hash slot not served",
          "LOADING Redis is loading the dataset in memory",
          "ERR Script attempted to execute a command while the cluster is down script: f_1",
          "ERR Script attempted to execute a write command while the cluster is down and readonly",
          "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: Lua script "
          "attempted to execute a command while the cluster is down"}) {
        const redirection told = of(error);
        EXPECT_EQ(told.what, kind::pause) << error;
        EXPECT_EQ(told.done, outcome::not_carried_out) << error;
        EXPECT_TRUE(told.refresh && told.pause_first) << error;
        EXPECT_FALSE(told.cut) << error;
    }
}

TEST(Redirection, ADemotedServerIsLeft) {
    const redirection told = of("READONLY You can't write against a read only replica.");
    EXPECT_EQ(told.what, kind::demoted);
    EXPECT_EQ(told.done, outcome::not_carried_out);
    EXPECT_TRUE(told.refresh && told.cut);
    EXPECT_FALSE(told.pause_first);
    const redirection stale = of("MASTERDOWN Link with MASTER is down");
    EXPECT_EQ(stale.what, kind::demoted);
    EXPECT_EQ(stale.done, outcome::not_carried_out);
    EXPECT_TRUE(stale.refresh && stale.cut && stale.pause_first);
}

TEST(Redirection, AnUnblockedWaitWasCarriedOut) {
    const redirection told =
        of("UNBLOCKED force unblock from blocking operation, instance state changed");
    EXPECT_EQ(told.what, kind::demoted);
    EXPECT_EQ(told.done, outcome::carried_out);
    EXPECT_TRUE(told.refresh && told.cut);
}

TEST(Redirection, AKeyThatIsNotHereLeavesOpenWhatTheScriptDid) {
    for (const char* error :
         {"ERR Script attempted to access a non local key in a cluster node script: f_1",
          "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: Lua script "
          "attempted to access a non local key in a cluster node",
          "ERR Unable to execute command 'hget' in script because undeclared keys were accessed "
          "during rehashing of the slot script: f_1",
          "ERR Script attempted to access a slot not served script: f_1"}) {
        const redirection told = of(error);
        EXPECT_EQ(told.what, kind::not_here) << error;
        EXPECT_EQ(told.done, outcome::unknown) << error;
        EXPECT_TRUE(told.refresh) << error;
        EXPECT_FALSE(told.cut || told.pause_first) << error;
    }
}

TEST(Redirection, AnUnknownScriptIsSentToTheSameServer) {
    const redirection told = of("NOSCRIPT No matching script. Please use EVAL.");
    EXPECT_EQ(told.what, kind::unknown_script);
    EXPECT_EQ(told.done, outcome::not_carried_out);
    EXPECT_FALSE(told.refresh || told.cut || told.pause_first);
}

TEST(Redirection, OtherErrorsSayNothingOfThePlace) {
    for (const char* error :
         {"", " ", "ERR", "MOVEDX 1 a:1", "moved 1 a:1", "ASKING", "WRONGTYPE Operation against",
          "NOPERM this user has no permissions", "ERR MOVED 1 a:1", "NOREPLICAS Not enough",
          "CROSSSLOT Keys in request don't hash to the same slot",
          "ERR This instance has cluster support disabled",
          "WRONGTYPE a non local key that was attempted to access a non local key"}) {
        const redirection told = of(error);
        EXPECT_EQ(told.what, kind::none) << error;
        EXPECT_FALSE(told.refresh || told.cut || told.pause_first) << error;
    }
}

} // namespace
} // namespace holdfast::redis
