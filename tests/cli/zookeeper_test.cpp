// SPDX-License-Identifier: Apache-2.0
// Each verb on ZooKeeper.
#include "cli/other_store.hpp"
#include "support/on_each_server.hpp"
#include "support/zookeeper_server.hpp"

#include <memory>

namespace holdfast::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ZookeeperVerbs : public on_other_store {
protected:
    static void TearDownTestSuite() { server().reset(); }
    void SetUp() override {
        support::make_or_skip([] {
            if (!server())
                server() = std::make_unique<support::zookeeper_server>();
        });
    }
    std::string url() const override { return server()->url(); }

private:
    /// Of all tests here.
    static std::unique_ptr<support::zookeeper_server>& server() {
        static std::unique_ptr<support::zookeeper_server> all;
        return all;
    }
};

TEST_F(ZookeeperVerbs, ACommandRunsUnderALock) {
    a_command_runs_under_a_lock();
}
TEST_F(ZookeeperVerbs, WhoHoldsItIsTold) {
    who_holds_it_is_told();
}
TEST_F(ZookeeperVerbs, TopListsHeldLocksWithoutTheirTimes) {
    top_lists_held_locks_without_times();
}
TEST_F(ZookeeperVerbs, ALockThatWasTakenAwayIsLost) {
    a_lock_that_was_taken_away_is_lost();
}
TEST_F(ZookeeperVerbs, ReadersShareAndTokensGrow) {
    readers_share_and_tokens_grow();
}
TEST_F(ZookeeperVerbs, SlotsAreCounted) {
    slots_are_counted();
}
TEST_F(ZookeeperVerbs, SlotsAreCalledASemaphore) {
    ASSERT_EQ(run_here({"run", "--slots", "2", name, "--", "true"}).status, 0);
    EXPECT_THAT(run_here({"inspect", name}).out,
                HasSubstr("not a known kind of lock, but a semaphore\n"));
}
TEST_F(ZookeeperVerbs, NamesAreReadAndPrintedWithoutThePrefix) {
    names_have_no_prefix();
}
TEST_F(ZookeeperVerbs, MessagesDoNotAskForRightsOrNameCppOptions) {
    messages_do_not_ask_for_rights_or_name_cpp_options();
}
TEST_F(ZookeeperVerbs, JsonHasTheFieldsOfTheHelp) {
    json_has_the_fields_of_the_help();
}
TEST_F(ZookeeperVerbs, LocksAreMeasuredAndShown) {
    locks_are_measured_and_shown();
}

TEST_F(ZookeeperVerbs, WhatItHasNotIsRefusedWithWhoHasIt) {
    what_is_on_redis_alone_is_refused();
    expect_refused({"latch", "count", name}, "no latches; Redis, Valkey, MySQL and MariaDB have");
    expect_refused({"doctor", "--create-tables"},
                   "--create-tables is for mysql:// and mariadb://: other stores need no tables");
}

TEST_F(ZookeeperVerbs, EveryLockIsFair) {
    EXPECT_EQ(run_here({"run", "--fair", name, "--", "true"}).status, 0);
}

/// Of a client that dies the session is left, which `--lease` asks for.
TEST_F(ZookeeperVerbs, ADeadHolderIsSucceededWhenItsSessionEnds) {
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_THAT(run_here({"ls", name}).out, HasSubstr("its session"));
    holder.signal(SIGKILL);
    EXPECT_EQ(run_here({"run", "-w", "60", name, "--", "true"}).status, 0);
}

TEST_F(ZookeeperVerbs, InspectSaysThatOnlyTheHolderKnowsHowLongItsSessionLasts) {
    const std::string note =
        "only the holder knows how long its session lasts; ZooKeeper does not report it\n";
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_THAT(run_here({"inspect", name}).out,
                HasSubstr("lease left its session\n           " + note));
    const boost::json::value told = told_of({"inspect", "--json", name});
    EXPECT_TRUE(told.at("lease_left_ms").is_null());
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0);
    EXPECT_THAT(run_here({"inspect", name}).out, Not(HasSubstr("session")));
}

TEST_F(ZookeeperVerbs, TheDoctorLooksAtIt) {
    const boost::json::value told = told_of({"doctor", "--json"});
    EXPECT_FALSE(told.at("findings").as_array().empty());
    EXPECT_NE(told.at("worst").as_string(), "danger") << told;
}

TEST_F(ZookeeperVerbs, MissingChrootIsReportedByEachVerb) {
    for (const std::vector<std::string>& verb :
         std::vector<std::vector<std::string>>{{"ls"},
                                               {"inspect", name},
                                               {"inspect", "--type", "permits", name},
                                               {"wait", "-w", "0", name},
                                               {"wait", "-w", "5", name},
                                               {"unlock", "--force", "--yes", name},
                                               {"run", name, "--", "true"},
                                               {"run", "-n", name, "--", "true"},
                                               {"run", "-s", name, "--", "true"},
                                               {"run", "--slots", "2", name, "--", "true"}}) {
        const ended told = run(verb, url() + "/taem");
        EXPECT_EQ(told.status, 69) << verb.front() << told.out;
        EXPECT_THAT(told.err, HasSubstr("the chroot '/taem' does not exist at ")) << verb.front();
    }
    EXPECT_THAT(run({"doctor", "--json"}, url() + "/taem").out,
                HasSubstr("the chroot '/taem' does not exist at "));
}

/// The server's tick is 200 ms, so it grants 400 ms to 4 s.
TEST_F(ZookeeperVerbs, LeaseThatTheServerChangesIsToldWithVerbose) {
    EXPECT_THAT(run_here({"run", "-v", "--lease", "200ms", name, "--", "true"}).err,
                HasSubstr("the session timeout is 400 ms, and 200 ms were requested"));
    EXPECT_THAT(run_here({"run", "-v", "--lease", "10m", name, "--", "true"}).err,
                HasSubstr("the session timeout is 4000 ms, and 600000 ms were requested"));
    EXPECT_THAT(run_here({"run", "-v", "--lease", "3s", name, "--", "true"}).err,
                Not(HasSubstr("were requested")));
    EXPECT_THAT(run({"doctor", "--json"}, url() + "?lease_time=10m").out,
                HasSubstr("The session timeout is 4000 ms, but the client requested 600000 ms."));
}

TEST(ZookeeperAway, IsToldAtOnceAndWithoutThePassword) {
    const ended told = run({"ls"}, "zk://app:secret@127.0.0.1:1?unavailable_timeout=0s");
    EXPECT_EQ(told.status, 69);
    EXPECT_THAT(told.err, StartsWith("holdfast: cannot reach zk://app:***@127.0.0.1:1"));
    EXPECT_THAT(run({"ls"}, "zk://zk1?rot=/a").err,
                AllOf(HasSubstr("HOLDFAST_URL: "), HasSubstr("do you mean root?")));
}

TEST(ZookeeperAway, OfSeveralServersOneIsWaitedForUntilTheTimeLimitOfTheRequest) {
    const ended told = run({"ls"}, "zk://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3?"
                                   "unavailable_timeout=0s&command_timeout=300ms");
    EXPECT_EQ(told.status, 69);
    EXPECT_THAT(told.err, AllOf(StartsWith("holdfast: cannot reach zk://127.0.0.1:1,"),
                                HasSubstr("not sent within 300 ms: no connection to 127.0.0.1:")));
}

} // namespace
} // namespace holdfast::cli_test
