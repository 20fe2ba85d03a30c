// SPDX-License-Identifier: Apache-2.0
#include "database_on_server.hpp"

#include <set>
#include <string>
#include <vector>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Database : public database_with_rows {};

TEST_F(Database, AnswersAStatement) {
    const asked call = ask("SELECT v FROM t WHERE k = 2");
    EXPECT_EQ(call->code, error_code{}) << call->text;
    EXPECT_EQ(call->value(), "20");
    EXPECT_GE(call->got.received_at, call->got.sent_at);
    EXPECT_EQ(call->got.server, "unix:" + server().socket_path());
}

TEST_F(Database, TellsNullFromAnEmptyText) {
    const asked call = ask("SELECT NULL, '', 'a\\0b'");
    ASSERT_EQ(call->got.of.size(), 1u) << call->text;
    using value = std::optional<std::string>;
    EXPECT_THAT(call->got.of[0].rows.at(0),
                ElementsAre(value{}, value{""}, value{std::string{"a\0b", 3}}));
}

TEST_F(Database, CountsTheRowsThatMatchedAndNotThoseThatChanged) {
    const asked call = ask("UPDATE t SET v = 10 WHERE k = 1");
    EXPECT_EQ(call->got.of.at(0).matched, 1u) << call->text;
}

TEST_F(Database, TellsTheInsertIdThatTheStatementSet) {
    const asked call = ask("UPDATE t SET v = LAST_INSERT_ID(9223372036854775810) WHERE k = 1");
    EXPECT_EQ(call->got.of.at(0).insert_id, 9223372036854775810ull) << call->text;
}

TEST_F(Database, AnswersSeveralStatementsInTheirOrder) {
    const asked call = ask_all({"SELECT v FROM t ORDER BY k", "UPDATE t SET v = 11 WHERE k = 1",
                                "SELECT v FROM t WHERE k = 1", "SELECT CONNECTION_ID()",
                                "SELECT 1 FROM t WHERE k = 99"});
    ASSERT_EQ(call->got.of.size(), 5u) << call->text;
    EXPECT_EQ(call->got.of[0].rows.size(), 2u);
    EXPECT_EQ(call->got.of[1].matched, 1u);
    EXPECT_EQ(call->got.of[2].rows.at(0).at(0), "11");
    EXPECT_TRUE(call->got.of[4].rows.empty());
}

TEST_F(Database, AnErrorOfTheFirstStatementDoesNotMixUpTheAnswers) {
    const asked call = ask_all({"SELECT nothing FROM t", "SELECT 1"});
    EXPECT_EQ(call->code, make_error_code(store_errc::not_set_up)) << call->text;
    EXPECT_EQ(ask("SELECT 7")->value(), "7");
}

TEST_F(Database, AnErrorBehindSomethingThatWasDoneIsUnknown) {
    const asked call = ask_all({"UPDATE t SET v = 5 WHERE k = 1", "SELECT nothing FROM t"});
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
}

TEST_F(Database, AnErrorOfAHintIsTold) {
    mysql::call_wishes wishes;
    wishes.rest_is_hint = true;
    const asked call = ask_all({"UPDATE t SET v = 5 WHERE k = 1", "SELECT nothing FROM t"}, wishes);
    ASSERT_EQ(call->code, error_code{}) << call->text;
    EXPECT_EQ(call->got.of.at(0).matched, 1u);
    EXPECT_EQ(call->got.of.at(1).error, 1054u);
    EXPECT_THAT(call->got.of.at(1).words, HasSubstr("nothing"));
}

TEST_F(Database, LearnsTheServersClock) {
    const asked call = ask("SELECT 1");
    ASSERT_TRUE(call->got.clock && call->got.clock->known()) << call->text;
    const auto shown = call->got.clock->no_later_than(clock_.now());
    const auto date = std::chrono::system_clock::now().time_since_epoch();
    EXPECT_LT(*shown, date + 1s);
    EXPECT_GT(*shown, date - 10s);
}

TEST_F(Database, MakesItsSessionSafe) {
    EXPECT_EQ(ask("SELECT CONCAT(@@sql_mode, @@time_zone, @@autocommit, @@completion_type, "
                  "@@tx_isolation, @@innodb_lock_wait_timeout)")
                  ->value(),
              "STRICT_ALL_TABLES+00:00ONNO_CHAINREAD-COMMITTED1");
}

TEST_F(Database, TellsWhatTheServerIs) {
    EXPECT_FALSE(database().facts());
    ask("SELECT 1");
    const auto facts = database().facts();
    ASSERT_TRUE(facts);
    EXPECT_TRUE(facts->is_mariadb);
    EXPECT_THAT(facts->version, HasSubstr("MariaDB"));
    EXPECT_FALSE(facts->read_only);
    EXPECT_FALSE(facts->is_replica);
    EXPECT_FALSE(facts->sysdate_is_now);
    EXPECT_EQ(facts->flush_at_commit, "2");
    EXPECT_TRUE(database().has_bells());
}

TEST_F(Database, KeepsToItsConnectionsAndServesAllWhoWait) {
    how_.connections_max = 2;
    std::vector<asked> calls;
    for (int i = 0; i < 20; ++i)
        calls.push_back(begin({"SELECT CONNECTION_ID(), SLEEP(0.005)"}));
    std::set<std::string> seen;
    for (const asked& each : calls) {
        ASSERT_TRUE(run_until([&] { return each->done; }));
        EXPECT_EQ(each->code, error_code{}) << each->text;
        seen.insert(each->value());
    }
    EXPECT_LE(seen.size(), 2u);
}

TEST_F(Database, GoesOnAfterAKill) {
    const std::string id = ask("SELECT CONNECTION_ID()")->value();
    server().sql("KILL " + id);
    const asked after = ask("SELECT CONNECTION_ID()");
    EXPECT_EQ(after->code, error_code{}) << after->text;
    EXPECT_NE(after->value(), id);
}

} // namespace
} // namespace holdfast
