// SPDX-License-Identifier: Apache-2.0
// The program on MariaDB, alone and together with Redis and ZooKeeper.
#include "cli/other_store.hpp"
#include "cli/program.hpp"
#include "support/mariadb_server.hpp"
#include "support/on_each_server.hpp"
#include "support/redis_server.hpp"
#include "support/zookeeper_server.hpp"

#include <boost/json.hpp>

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace holdfast::cli_test {
namespace {

// Each verb on MariaDB.

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
TEST_F(MysqlVerbs, TopListsHeldLocksWithoutTheirTimes) {
    top_lists_held_locks_without_times();
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
    EXPECT_THAT(made.out, HasSubstr("5 of 5 tables for locks were created"));
    EXPECT_EQ(run({"run", name, "--", "true"}, elsewhere).status, 0);
    EXPECT_THAT(run({"doctor", "--create-tables"}, elsewhere).out, HasSubstr("exist already"));
}

TEST_F(MysqlVerbs, ItIsReachedThroughItsSocketToo) {
    std::string local = server()->unix_url();
    local.insert(local.find("://") + 3, std::string{support::mariadb_server::user} + ":" +
                                            support::mariadb_server::password + "@");
    EXPECT_EQ(run({"run", name, "--", "true"}, local).status, 0);
}

TEST_F(MysqlVerbs, UnlockWithoutTheRightIsRefusedAndNamesTheRight) {
    server()->sql("CREATE USER looker@'%' IDENTIFIED BY 'own-word'");
    server()->sql("GRANT SELECT ON " + std::string{support::mariadb_server::schema} +
                  ".* TO looker@'%'");
    std::string as_looker = server()->unix_url();
    as_looker.insert(as_looker.find("://") + 3, "looker:own-word@");
    program holder{until_closed(), url()};
    ASSERT_EQ(holder.line(), "held");
    const ended told = run({"unlock", "--force", "--yes", name}, as_looker);
    EXPECT_EQ(told.status, 69);
    EXPECT_THAT(told.err, HasSubstr(" refused: "));
    EXPECT_THAT(told.err, HasSubstr("UPDATE command denied"));
    EXPECT_THAT(told.err, HasSubstr("grant SELECT, INSERT, UPDATE, DELETE on"));
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0) << "it kept its lock";
}

TEST(MysqlAway, IsToldWithoutThePassword) {
    const ended told = run({"ls"}, "mysql://app:secret@127.0.0.1:1/shop?unavailable_timeout=0s");
    EXPECT_EQ(told.status, 69);
    EXPECT_THAT(told.err, StartsWith("holdfast: cannot reach mysql://app:***@127.0.0.1:1/shop"));
    EXPECT_THAT(told.err, Not(HasSubstr("secret")));
    EXPECT_THAT(run({"ls"}, "mysql://h").err, HasSubstr("HOLDFAST_URL: it names no schema"));
}

// The program on Redis, MariaDB and ZooKeeper at once: a quorum whose nodes are of different kinds.

using ::testing::AllOf;

class QuorumOfStores : public ::testing::Test {
protected:
    struct three {
        three() { (void)run({"doctor", "--create-tables"}, database.url()); }
        support::redis_server redis{};
        support::mariadb_server database{};
        /// Its sessions last up to 40 s, so they last as long as the leases.
        support::zookeeper_server keeper{support::zookeeper(), {.tick = std::chrono::seconds{2}}};
    };

    const std::string name =
        std::string{"job-"} + ::testing::UnitTest::GetInstance()->current_test_info()->name();

    static void TearDownTestSuite() { nodes().reset(); }
    void SetUp() override {
        support::make_or_skip([] {
            if (!nodes())
                nodes() = std::make_unique<three>();
        });
    }
    static three& node() { return *nodes(); }

    static std::vector<std::string> with_urls(std::vector<std::string> words) {
        for (const std::string& each :
             {node().redis.url(), node().database.url(), node().keeper.url()})
            words.insert(words.begin() + 1, {"--url", each});
        return words;
    }
    /// Redis votes at once: it was started just now, and has forgotten nothing.
    std::vector<std::string> until_closed() const {
        return with_urls({"run", "--lease", "15", "--nodes-remember", name, "--", "sh", "-c",
                          "echo held; read nothing; echo done"});
    }
    std::vector<std::string> waiting_for(const std::string& seconds) const {
        return with_urls(
            {"run", "-w", seconds, "--lease", "15", "--nodes-remember", name, "--", "true"});
    }
    boost::json::value inspected() const {
        return boost::json::parse(run(with_urls({"inspect", "--json", name})).out);
    }
    static std::size_t held_at(const boost::json::value& told) {
        std::size_t count = 0;
        for (const boost::json::value& each : told.at("nodes").as_array())
            count += each.at("held").as_bool() ? 1 : 0;
        return count;
    }
    bool is_held_by(std::size_t wanted) const {
        return eventually([&] { return held_at(inspected()) == wanted; });
    }

private:
    /// Of all tests here.
    static std::unique_ptr<three>& nodes() {
        static std::unique_ptr<three> all;
        return all;
    }
};

TEST_F(QuorumOfStores, ACommandRunsWithTheLockOnAllOfThem) {
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(is_held_by(3));
    EXPECT_TRUE(eventually([this] { return inspected().at("held").as_bool(); }));
    EXPECT_EQ(run_when_reached(waiting_for("0")).status, 1);
    holder.close_stdin();
    const ended told = holder.end();
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_TRUE(is_held_by(0));
    EXPECT_EQ(run(waiting_for("20")).status, 0);
}

TEST_F(QuorumOfStores, AStoreThatIsAwayIsNotNeeded) {
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(is_held_by(3));
    node().database.stop();
    EXPECT_TRUE(is_held_by(2));
    EXPECT_TRUE(eventually([this] { return inspected().at("held").as_bool(); }));
    EXPECT_EQ(run_when_reached(waiting_for("0.5")).status, 1);
    holder.close_stdin();
    EXPECT_EQ(holder.end().status, 0) << "it was not lost";
    const ended fine = run(waiting_for("20"));
    EXPECT_EQ(fine.status, 0) << fine.err;
    node().database.restart();
    EXPECT_TRUE(is_held_by(0)) << "what the database had has ended with its lease";
}

TEST_F(QuorumOfStores, ATakenMajorityStopsTheCommand) {
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(is_held_by(3));
    EXPECT_EQ(run(with_urls({"unlock", "--force", "--yes", name})).status, 0);
    EXPECT_EQ(holder.end().status, 75);
}

TEST_F(QuorumOfStores, LsAndTheDoctorTellOfEach) {
    program holder{until_closed()};
    ASSERT_EQ(holder.line(), "held");
    EXPECT_TRUE(is_held_by(3));
    const std::string all =
        node().redis.url() + ' ' + node().database.url() + ' ' + node().keeper.url();
    const boost::json::value list = boost::json::parse(run({"ls", "--json", name}, all).out);
    ASSERT_EQ(list.at("locks").as_array().size(), 1U) << list;
    EXPECT_EQ(list.at("locks").at(0).at("nodes").as_array().size(), 3U) << list;
    const ended told = run(with_urls({"doctor", "--json"}));
    const boost::json::value found = boost::json::parse(told.out);
    ASSERT_EQ(found.at("nodes").as_array().size(), 3U) << found;
    for (const boost::json::value& each : found.at("nodes").as_array())
        EXPECT_NE(each.at("worst").as_string(), "danger") << each;
    EXPECT_THAT(told.out, AllOf(HasSubstr("innodb_flush_log_at_trx_commit"), HasSubstr("session"),
                                Not(HasSubstr(support::mariadb_server::password))));
}

} // namespace
} // namespace holdfast::cli_test
