// SPDX-License-Identifier: Apache-2.0
// A server that goes away, falls silent, or takes no writes.
#include "database_on_server.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DatabaseOutage : public database_on_server {
protected:
    DatabaseOutage()
        : database_on_server{support::mariadb_server::options{}} {}

    std::string my_connection() { return connection_of(ask("SELECT CONNECTION_ID()")); }
    bool answers() { return ask("SELECT 1")->value() == "1"; }
};

TEST_F(DatabaseOutage, AKillIsNoticedAndCostsNobodyAnything) {
    ASSERT_TRUE(run_until([&] { return server().counted("Uptime") >= 4; })) << "it counts seconds";
    const std::string id = my_connection();
    server().sql("KILL " + id);
    ASSERT_TRUE(run_until([&] { return told_.count(event_kind::disconnected) == 1; }));
    EXPECT_TRUE(answers());
    EXPECT_EQ(told_.count(event_kind::reconnected), 1u);
    EXPECT_THAT(doubts_, ElementsAre(false)) << "the same server, which has forgotten nothing";
}

TEST_F(DatabaseOutage, AKilledStatementIsUnknown) {
    const asked call = begin({"SELECT SLEEP(100), CONNECTION_ID()"});
    std::string id;
    ASSERT_TRUE(run_until([&] {
        id = server().value("SELECT id FROM information_schema.processlist WHERE "
                            "state = 'User sleep'");
        return !id.empty();
    }));
    server().sql("KILL " + id);
    ASSERT_TRUE(run_until([&] { return call->done; }));
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
    EXPECT_TRUE(answers());
}

TEST_F(DatabaseOutage, AKilledQueryIsUnknownAndItsConnectionIsNotUsedAgain) {
    server().sql("CREATE TABLE t (k INT PRIMARY KEY) ENGINE=InnoDB");
    server().sql("INSERT INTO t VALUES (1)");
    const std::string id = my_connection();
    auto other = server().connect();
    other.run("START TRANSACTION");
    other.run("SELECT * FROM t FOR UPDATE");
    const asked call = begin({"UPDATE t SET k = 2"});
    ASSERT_TRUE(run_until([&] { return server().counted("Innodb_row_lock_current_waits") == 1; }));
    server().sql("KILL QUERY " + id);
    ASSERT_TRUE(run_until([&] { return call->done; }));
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
    EXPECT_NE(my_connection(), id);
}

TEST_F(DatabaseOutage, ARestartPutsAllHoldsInDoubtWhileAnythingIsHeld) {
    ASSERT_TRUE(answers());
    holds_ = true;
    server().restart();
    ASSERT_TRUE(run_until([&] { return !doubts_.empty(); })) << "nobody has to ask for it";
    EXPECT_THAT(doubts_, ElementsAre(true)) << "it may have forgotten something";
    EXPECT_TRUE(answers());
}

TEST_F(DatabaseOutage, AServerThatIsDownIsUnreachable) {
    ASSERT_TRUE(answers());
    server().stop();
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, errc::unreachable) << call->text;
    EXPECT_THAT(call->text, HasSubstr(server().socket_path()));
    EXPECT_GE(told_.count(event_kind::disconnected), 1u);
    server().start();
    EXPECT_TRUE(run_until([&] { return answers(); }));
}

TEST_F(DatabaseOutage, AStoppedServerEndsACallAtItsLimit) {
    how_.command_timeout = 300ms;
    ASSERT_TRUE(answers());
    server().pause();
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
    EXPECT_THAT(call->text, HasSubstr("in time"));
    server().resume();
    EXPECT_TRUE(run_until([&] { return answers(); }));
}

TEST_F(DatabaseOutage, AFullSocketEndsACallAtItsLimitAndNothingWasDone) {
    how_.command_timeout = 500ms;
    use_tcp();
    ASSERT_TRUE(answers());
    server().pause();
    const asked call = ask("SELECT '" + std::string(8u << 20u, 'x') + "'");
    EXPECT_EQ(call->code, errc::unreachable) << call->text;
    server().resume();
    EXPECT_TRUE(run_until([&] { return answers(); }));
}

/// The others were silent as long, and may be as dead.
TEST_F(DatabaseOutage, OneThatIsLateSpoilsThoseThatWereIdleMeanwhile) {
    how_.connections_max = 2;
    how_.command_timeout = 400ms;
    const asked one = begin({"SELECT CONNECTION_ID(), SLEEP(0.1)"});
    const asked other = begin({"SELECT CONNECTION_ID(), SLEEP(0.1)"});
    ASSERT_TRUE(run_until([&] { return one->done && other->done; }));
    ASSERT_NE(one->value(), other->value()) << one->text << other->text;
    server().pause();
    ask("SELECT 1");
    server().resume();
    ASSERT_TRUE(run_until([&] { return answers(); }));
    const std::string now = my_connection();
    EXPECT_NE(now, one->value());
    EXPECT_NE(now, other->value());
}

TEST_F(DatabaseOutage, AServerThatClosesIdleConnectionsCostsNobodyAnything) {
    const std::string id = my_connection();
    ask("SET wait_timeout = 1");
    ASSERT_TRUE(run_until([&] { return told_.count(event_kind::disconnected) == 1; }));
    EXPECT_NE(my_connection(), id);
}

TEST_F(DatabaseOutage, AnIdleConnectionIsUsedNowAndThen) {
    how_.keep_alive = 1s;
    const std::string id = my_connection();
    ASSERT_TRUE(run_until([&] { return server().counted("Com_show_variables") >= 3; }));
    EXPECT_EQ(my_connection(), id);
    EXPECT_EQ(told_.count(event_kind::disconnected), 0u);
}

TEST_F(DatabaseOutage, TooManyConnectionsIsToldAndPasses) {
    auto other = server().connect();
    const std::string most = server().value("SELECT @@max_connections");
    server().sql("SET GLOBAL max_connections = 10");
    std::vector<support::sql_connection> all;
    try {
        for (;;)
            all.push_back(server().connect());
    } catch (const support::sql_error&) {
    }
    use_tcp();
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::too_many_clients)) << call->text;
    EXPECT_EQ(call->code, errc::unreachable);
    all.clear();
    EXPECT_TRUE(run_until([&] { return answers(); }));
}

TEST_F(DatabaseOutage, AReadOnlyServerIsLeftAndIsTakenAgain) {
    server().sql("CREATE TABLE t (k INT PRIMARY KEY) ENGINE=InnoDB");
    ASSERT_TRUE(answers());
    server().sql("SET GLOBAL read_only = ON");
    const asked call = ask("INSERT INTO t VALUES (1)");
    EXPECT_EQ(call->code, make_error_code(store_errc::read_only)) << call->text;
    EXPECT_EQ(call->code, errc::unreachable);
    EXPECT_EQ(server().value("SELECT COUNT(*) FROM t"), "0");
    const asked again = ask("SELECT 1");
    EXPECT_EQ(again->code, make_error_code(store_errc::read_only)) << again->text;
    server().sql("SET GLOBAL read_only = OFF");
    EXPECT_TRUE(run_until([&] { return answers(); }));
}

TEST_F(DatabaseOutage, AServerThatTurnsReadOnlyIsNoticedWhileNothingIsAsked) {
    how_.keep_alive = 1s;
    ASSERT_TRUE(answers());
    server().sql("SET GLOBAL read_only = ON");
    ASSERT_TRUE(run_until([&] { return told_.count(event_kind::disconnected) == 1; }));
    EXPECT_THAT(told_.last(event_kind::disconnected)->text, HasSubstr("read-only"));
    server().sql("SET GLOBAL read_only = OFF");
}

TEST_F(DatabaseOutage, AStatementBinaryLogIsRefused) {
    server().sql("SET GLOBAL binlog_format = STATEMENT");
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::unfit)) << call->text;
    EXPECT_EQ(call->code, errc::refused);
    EXPECT_THAT(call->text, HasSubstr("binlog_format"));
}

TEST_F(DatabaseOutage, AClosedDatabaseEndsWhatIsUnderWay) {
    const asked running = begin({"SELECT SLEEP(100)"});
    how_.connections_max = 1;
    ASSERT_TRUE(run_until([&] { return connections() == "1"; }));
    database().close();
    ASSERT_TRUE(run_until([&] { return running->done; }));
    EXPECT_EQ(running->code, errc::closed) << running->text;
    EXPECT_EQ(ask("SELECT 1")->code, errc::closed);
}

TEST_F(DatabaseOutage, ClosingSaysGoodbyeToTheServer) {
    ASSERT_TRUE(answers());
    forget_database();
    ASSERT_TRUE(run_until([&] { return connections() == "0"; }));
    EXPECT_EQ(server().counted("Aborted_clients"), 0u);
}

class SysdateIsNow : public database_on_server {
protected:
    SysdateIsNow()
        : database_on_server{support::mariadb_server::options{.arguments = {"--sysdate-is-now"}}} {}
};

TEST_F(SysdateIsNow, IsRefused) {
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::unfit)) << call->text;
    EXPECT_THAT(call->text, HasSubstr("sysdate_is_now"));
}

} // namespace
} // namespace holdfast
