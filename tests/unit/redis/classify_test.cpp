// SPDX-License-Identifier: Apache-2.0
#include "redis/wire/classify.hpp"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

struct said {
    std::string text;
    store_errc meant;
};
void PrintTo(const said& s, std::ostream* out) {
    *out << s.text;
}

class Classify : public ::testing::TestWithParam<said> {};

TEST_P(Classify, TellsByTheServersWords) {
    EXPECT_EQ(classify(GetParam().text), GetParam().meant);
}

// As servers said them: redis 7.0, valkey 8.0, redis 8.0.
INSTANTIATE_TEST_SUITE_P(
    AtTopLevel, Classify,
    ::testing::Values(
        said{"LOADING Redis is loading the dataset in memory", store_errc::loading},
        said{"LOADING Valkey is loading the dataset in memory", store_errc::loading},
        said{"BUSY Redis is busy running a script.", store_errc::busy_script},
        said{"BUSY Valkey is busy running a script.", store_errc::busy_script},
        said{"READONLY You can't write against a read only replica.", store_errc::read_only},
        said{"MASTERDOWN Link with MASTER is down", store_errc::master_down},
        said{"CLUSTERDOWN Hash slot not served", store_errc::cluster_down},
        said{"TRYAGAIN Multiple keys request during rehashing of slot", store_errc::try_again},
        said{"MOVED 3999 127.0.0.1:6381", store_errc::try_again},
        said{"ASK 3999 127.0.0.1:6381", store_errc::try_again},
        said{"NOREPLICAS Not enough good replicas to write.", store_errc::no_replicas},
        said{"MISCONF Redis is configured to save RDB snapshots", store_errc::disk_trouble},
        said{"OOM command not allowed when used memory > 'maxmemory'.", store_errc::out_of_memory},
        said{"NOPERM this user has no permissions to run the 'get' command",
             store_errc::no_permission},
        said{"NOAUTH Authentication required.", store_errc::not_authenticated},
        said{"WRONGPASS invalid username-password pair or user is disabled.",
             store_errc::not_authenticated},
        said{"WRONGTYPE Operation against a key holding the wrong kind of value",
             store_errc::wrong_type},
        said{"ERR max number of clients reached", store_errc::too_many_clients},
        said{"ERR Script killed by user with SCRIPT KILL. script: f_1",
             store_errc::script_killed}));

INSTANTIATE_TEST_SUITE_P(
    InsideAScript, Classify,
    ::testing::Values(
        said{"ERR The user executing the script can't run this command or subcommand script: f_1",
             store_errc::no_permission},
        said{"ERR The user executing the script can't access at least one of the keys mentioned",
             store_errc::no_permission},
        said{"ERR ACL failure in script: No permissions to access a key script: f_1",
             store_errc::no_permission},
        said{"WRONGTYPE Operation against a key holding the wrong kind of value script: f_1, on "
             "@user_script:1.",
             store_errc::wrong_type},
        said{"ERR Script attempted to execute a command while the cluster is down script: f_1",
             store_errc::cluster_down},
        said{"ERR Script attempted to execute a write command while the cluster is down and "
             "readonly script: f_1",
             store_errc::cluster_down},
        said{"ERR hash value is not an integer", store_errc::wrong_type}));

INSTANTIATE_TEST_SUITE_P(
    InsideAScriptBefore7, Classify,
    ::testing::Values(
        said{"ERR Error running script (call to f_1): @user_script:1: WRONGTYPE Operation against",
             store_errc::wrong_type},
        said{"ERR Error running script (call to f_1): @user_script:1: @user_script: 1: The user "
             "executing the script can't run this command or subcommand",
             store_errc::no_permission},
        said{"ERR Error running script (call to f_1): @user_script:3: -READONLY You can't write",
             store_errc::read_only},
        said{"ERR Error running script (call to f_1): @user_script:1: no idea", store_errc::other},
        said{"ERR Error running script (call to f_1): @user_script:", store_errc::other},
        said{"ERR Error running script", store_errc::other}));

INSTANTIATE_TEST_SUITE_P(OfWordsItDoesNotKnow, Classify,
                         ::testing::Values(said{"", store_errc::other}, //
                                           said{" ", store_errc::other},
                                           said{"ERR", store_errc::other},
                                           said{"ERR ", store_errc::other},
                                           said{"BUSYGROUP exists already", store_errc::other},
                                           said{"LOADINGS of hay", store_errc::other},
                                           said{"oom", store_errc::other},
                                           said{"ERR OOM is not the first word", store_errc::other},
                                           said{"CROSSSLOT Keys don't hash", store_errc::other}));

TEST(Classify, TellsWhatAServerSaysThatBecameAReplica) {
    const std::string_view unblocked = "UNBLOCKED force unblock from blocking operation, instance "
                                       "state changed (master -> replica?)";
    const std::string_view too_late = "ERR WAIT cannot be used with replica instances. Please also";
    for (const std::string_view words : {unblocked, too_late}) {
        EXPECT_TRUE(was_unblocked(words)) << "what was asked before that was carried out";
        EXPECT_TRUE(tells_of_demotion(words));
    }
    for (const std::string_view words :
         {"READONLY You can't write", "MASTERDOWN Link with MASTER"}) {
        EXPECT_FALSE(was_unblocked(words));
        EXPECT_TRUE(tells_of_demotion(words));
    }
    EXPECT_FALSE(tells_of_demotion("ERR unknown command 'WAIT'"));
}

TEST(Classify, AsksForScript) {
    EXPECT_TRUE(asks_for_script("NOSCRIPT No matching script. Please use EVAL."));
    EXPECT_TRUE(asks_for_script("NOSCRIPT No matching script.")); // valkey
    EXPECT_FALSE(asks_for_script("ERR no such thing"));
    EXPECT_FALSE(asks_for_script(""));
}

} // namespace
} // namespace holdfast::redis
