// SPDX-License-Identifier: Apache-2.0
// MySQL's own server, where it differs from MariaDB: how it logs us in, what its variables are
// called, and what it says when it hangs up.
#include "database_on_server.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DatabaseOnMysql : public database_on_server {
protected:
    DatabaseOnMysql()
        : database_on_server{support::mariadb_server::options{}} {}

    void SetUp() override {
        if (support::newer_mysql().empty())
            GTEST_SKIP() << "HOLDFAST_NEWER_MYSQL names no server";
        database_on_server::SetUp();
    }
    std::optional<support::server_binary> which() const override {
        return support::newer_mysql().front();
    }
};

TEST_F(DatabaseOnMysql, AnswersByBothWaysIn) {
    const asked here = ask("SELECT VERSION()");
    ASSERT_EQ(here->code, error_code{}) << here->text;
    forget_database();
    use_tcp();
    const asked there = ask_all({"SELECT nothing_at_all", "SELECT 1"});
    EXPECT_EQ(there->code, make_error_code(store_errc::not_set_up)) << there->text;
    EXPECT_EQ(ask("SELECT VERSION()")->value(), here->value());
}

TEST_F(DatabaseOnMysql, TellsWhatItIs) {
    const asked call = ask("SELECT CONCAT(@@sql_mode, @@time_zone, @@autocommit, "
                           "@@completion_type, @@transaction_isolation)");
    EXPECT_EQ(call->value(), "STRICT_ALL_TABLES+00:001NO_CHAINREAD-COMMITTED") << call->text;
    const auto facts = database().facts();
    ASSERT_TRUE(facts);
    EXPECT_FALSE(facts->is_mariadb);
    EXPECT_FALSE(facts->read_only || facts->is_replica || facts->sysdate_is_now);
    EXPECT_EQ(facts->binlog_format, "ROW");
    EXPECT_TRUE(database().has_bells());
    EXPECT_TRUE(call->got.clock->known());
}

TEST_F(DatabaseOnMysql, ATransactionIsEndedWhereItWasBegun) {
    server().sql("CREATE TABLE t (k INT PRIMARY KEY, v BIGINT UNSIGNED) ENGINE=InnoDB");
    server().sql("INSERT INTO t VALUES (1, 10)");
    mysql::call_wishes wishes;
    wishes.leaves_open = true;
    const asked begun =
        ask_all({"START TRANSACTION", "SELECT v FROM t FOR UPDATE SKIP LOCKED"}, wishes);
    ASSERT_EQ(begun->code, error_code{}) << begun->text;
    EXPECT_EQ(begun->value(), "10");
    mysql::call_wishes second;
    second.on = begun->got.by;
    const asked ended =
        ask_all({"UPDATE t SET v = LAST_INSERT_ID(9223372036854775810)", "COMMIT"}, second);
    ASSERT_EQ(ended->code, error_code{}) << ended->text;
    EXPECT_EQ(ended->got.of.at(0).insert_id, 9223372036854775810ull);
    EXPECT_EQ(ended->got.of.at(0).matched, 1u);
}

TEST_F(DatabaseOnMysql, AnIdleConnectionThatItClosesCostsNobodyAnything) {
    const std::string id = ask("SELECT CONNECTION_ID()")->value();
    ask("SET wait_timeout = 1");
    ASSERT_TRUE(run_until([&] { return told_.count(event_kind::disconnected) == 1; }));
    const asked after = ask("SELECT CONNECTION_ID()");
    EXPECT_EQ(after->code, error_code{}) << after->text;
    EXPECT_NE(after->value(), id);
}

TEST_F(DatabaseOnMysql, AReadOnlyServerIsLeft) {
    server().sql("CREATE TABLE t (k INT PRIMARY KEY) ENGINE=InnoDB");
    ASSERT_EQ(ask("SELECT 1")->value(), "1");
    server().sql("SET GLOBAL super_read_only = ON");
    const asked call = ask("INSERT INTO t VALUES (1)");
    EXPECT_EQ(call->code, make_error_code(store_errc::read_only)) << call->text;
    server().sql("SET GLOBAL super_read_only = OFF");
    server().sql("SET GLOBAL read_only = OFF");
    EXPECT_TRUE(run_until([&] { return ask("SELECT 1")->value() == "1"; }));
}

TEST_F(DatabaseOnMysql, ACarrierThatIsGivenBackHasNoUserLocks) {
    auto on = connection_to_wait_on();
    ASSERT_TRUE(on);
    mysql::call_wishes wishes;
    wishes.on = on;
    asked took = ask("SELECT GET_LOCK('left behind', 0)", wishes);
    EXPECT_EQ(took->value(), "1") << took->text;
    took.reset();
    wishes.on.reset();
    on.reset();
    EXPECT_TRUE(
        run_until([&] { return server().value("SELECT IS_FREE_LOCK('left behind')") == "1"; }));
}

} // namespace
} // namespace holdfast
