// SPDX-License-Identifier: Apache-2.0
// Each verb on MariaDB.
#include "cli/other_store.hpp"
#include "support/mariadb_server.hpp"
#include "support/on_each_server.hpp"

#include <memory>

#include <unistd.h>

namespace holdfast::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class MysqlVerbs : public on_other_store {
protected:
    static void TearDownTestSuite() { server().reset(); }
    void SetUp() override {
        support::make_or_skip([] {
            if (server())
                return;
            support::mariadb_server::options how;
            how.flush_at_commit = 1; // or the doctor warns
            server() = std::make_unique<support::mariadb_server>(support::mariadb(), how);
            ASSERT_EQ(run({"doctor", "--create-tables"}, server()->url()).status, 0);
        });
    }
    std::string url() const override { return server()->url(); }

    /// Of all tests here.
    static std::unique_ptr<support::mariadb_server>& server() {
        static std::unique_ptr<support::mariadb_server> all;
        return all;
    }
};

TEST_F(MysqlVerbs, ACommandRunsUnderALock) {
    a_command_runs_under_a_lock();
}
TEST_F(MysqlVerbs, WhoHoldsItIsTold) {
    who_holds_it_is_told();
}
TEST_F(MysqlVerbs, ALockThatWasTakenAwayIsLost) {
    a_lock_that_was_taken_away_is_lost();
}
TEST_F(MysqlVerbs, ReadersShareAndTokensGrow) {
    readers_share_and_tokens_grow();
}
TEST_F(MysqlVerbs, SlotsAreCounted) {
    slots_are_counted();
}
TEST_F(MysqlVerbs, NamesAreReadAndPrintedWithoutThePrefix) {
    names_have_no_prefix();
}
TEST_F(MysqlVerbs, MessagesDoNotAskForRightsOrNameCppOptions) {
    messages_do_not_ask_for_rights_or_name_cpp_options();
}
TEST_F(MysqlVerbs, JsonHasTheFieldsOfTheHelp) {
    json_has_the_fields_of_the_help();
}
TEST_F(MysqlVerbs, LocksAreMeasuredAndShown) {
    locks_are_measured_and_shown();
}

TEST_F(MysqlVerbs, WhatItHasNotIsRefusedWithWhoHasIt) {
    what_is_on_redis_alone_is_refused();
}

TEST_F(MysqlVerbs, ALatchOpens) {
    EXPECT_EQ(run_here({"latch", "set", name, "1"}).status, 0);
    EXPECT_EQ(run_here({"latch", "wait", "-w", "0", name}).status, 1);
    EXPECT_EQ(run_here({"latch", "down", name}).status, 0);
    EXPECT_EQ(run_here({"latch", "wait", name}).status, 0);
}

TEST_F(MysqlVerbs, LatchWithReplicasIsRefusedWithTheNameOfTheOption) {
    for (const char* word : {"down", "erase"})
        expect_refused({"latch", word, "--replicas", "1", name}, "holdfast: --replicas is 1; ");
    expect_refused({"latch", "set", "--replicas", "1", name, "2"}, "holdfast: --replicas is 1; ");
}

TEST_F(MysqlVerbs, TablesThatAreMissingAreMadeByTheDoctor) {
    const std::string elsewhere = url() + "?table=of_" + std::to_string(::getpid());
    const ended before = run({"run", name, "--", "true"}, elsewhere);
    EXPECT_EQ(before.status, 69);
    EXPECT_THAT(before.err, HasSubstr("doctor --create-tables"));
    EXPECT_THAT(before.err, Not(HasSubstr("CREATE TABLE"))) << "which is no line";
    EXPECT_EQ(run({"doctor"}, elsewhere).status, 1);
    const ended made = run({"doctor", "--create-tables"}, elsewhere);
    EXPECT_EQ(made.status, 0) << made.out << made.err;
    EXPECT_THAT(made.out, HasSubstr("were made"));
    EXPECT_EQ(run({"run", name, "--", "true"}, elsewhere).status, 0);
    EXPECT_THAT(run({"doctor", "--create-tables"}, elsewhere).out, HasSubstr("already"));
}

TEST_F(MysqlVerbs, ItIsReachedThroughItsSocketToo) {
    std::string local = server()->unix_url();
    local.insert(local.find("://") + 3, std::string{support::mariadb_server::user} + ":" +
                                            support::mariadb_server::password + "@");
    EXPECT_EQ(run({"run", name, "--", "true"}, local).status, 0);
}

TEST(MysqlAway, IsToldWithoutThePassword) {
    const ended told = run({"ls"}, "mysql://app:secret@127.0.0.1:1/shop?unavailable_timeout=0s");
    EXPECT_EQ(told.status, 69);
    EXPECT_THAT(told.err, StartsWith("holdfast: cannot reach mysql://app:***@127.0.0.1:1/shop"));
    EXPECT_THAT(told.err, Not(HasSubstr("secret")));
    EXPECT_THAT(run({"ls"}, "mysql://h").err, HasSubstr("HOLDFAST_URL: it names no schema"));
}

} // namespace
} // namespace holdfast::cli_test
