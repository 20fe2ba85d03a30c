// SPDX-License-Identifier: Apache-2.0
// A server that stops, does not reply, or accepts no writes.
#include "database_on_server.hpp"
#include "tcp_way.hpp"

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
    how_.command_timeout = 2s;
    ASSERT_TRUE(run_until([&] { return answers(); }));
    server().pause();
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
    EXPECT_THAT(call->text, HasSubstr("in time"));
    server().resume();
    EXPECT_TRUE(run_until([&] { return answers(); }));
}

TEST_F(DatabaseOutage, AFullSocketEndsACallAtItsLimitAndNothingWasDone) {
    how_.command_timeout = 2s;
    use_tcp();
    ASSERT_TRUE(run_until([&] { return answers(); }));
    server().pause();
    const asked call = ask("SELECT '" + std::string(8u << 20u, 'x') + "'");
    EXPECT_EQ(call->code, errc::unreachable) << call->text;
    server().resume();
    EXPECT_TRUE(run_until([&] { return answers(); }));
}

/// The others were silent as long, and may be as dead.
TEST_F(DatabaseOutage, OneThatIsLateSpoilsThoseThatWereIdleMeanwhile) {
    how_.connections_max = 2;
    how_.command_timeout = 2s;
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

// Invalid replies of a server or of a proxy.

using namespace std::string_literals;

class DatabaseHostile : public database_on_server {
protected:
    void SetUp() override {
        database_on_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        way_.emplace(server().port());
        how_.unix_socket.clear();
        how_.servers = {{"127.0.0.1", way_->port()}};
        how_.connect_timeout = 1s;
        how_.command_timeout = 500ms;
    }
    tcp_way& way() { return *way_; }

    std::optional<tcp_way> way_;
};

TEST_F(DatabaseHostile, AfterAGreetingThatIsNoneNothingIsUnknown) {
    const std::string greetings[] = {
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"s,
        "\x00\x00\x00\x00"s,
        "\xff\xff\xff\x00"s,
        "\x05\x00\x00\x00\x0a\x31\x00\x00\x00"s,
        "\x01\x00\x00\x00\xff"s,
        "\x4a\x00\x00\x00\x0a"s + std::string(73, '\xff'),
        "\x10\x00\x00\x00\xff\x10\x04#08004Too ma"s,
    };
    for (const std::string& each : greetings) {
        way().greet_with(each);
        const asked call = ask("SELECT 1");
        EXPECT_TRUE(call->code == errc::unreachable || call->code == errc::refused)
            << ::testing::PrintToString(each) << call->text;
        forget_database();
    }
}

TEST_F(DatabaseHostile, ASilentServerIsUnreachable) {
    how_.connect_timeout = 300ms;
    way().lose_after(0); // it greets, and never hears of us
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, errc::unreachable) << call->text;
    EXPECT_THAT(call->text, HasSubstr("within 300 ms"));
}

TEST_F(DatabaseHostile, AnswersThatAreNoneAreUnknownAndTheConnectionIsNotUsedAgain) {
    const std::string answers[] = {
        "\xff\xff\xff\x01"s,                                     // the beginning of 16 MB
        "\x00\x00\x00\x01"s,                                     // nothing at all
        "\x01\x00\x00\x01\xfe"s,                                 // an end without a beginning
        "\x09\x00\x00\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff"s, // 2^64 columns
        "\x05\x00\x00\x01\xfd\xff\xff\xff\x00"s,                 // 16 million
        "\x01\x00\x00\x01\x01\x01\x00\x00\x02\x01"s,             // a column without a name
        "\x01\x00\x00\x07\x00"s,                                 // out of order
        "\x01\x00\x00\x01\x00"s,                                 // an OK that is cut
        "\x01\x00\x00\x01\xff"s,                                 // an error without a number
        "\x02\x00\x00\x01\xfb/"s,                                // it wants a file of ours
    };
    for (const std::string& each : answers) {
        ASSERT_EQ(ask("SELECT 1")->value(), "1");
        way().answer_with(each);
        const asked call = ask("SELECT 2");
        EXPECT_TRUE(call->code) << ::testing::PrintToString(each);
        way_.emplace(server().port());
        forget_database();
        how_.servers = {{"127.0.0.1", way_->port()}};
    }
}

TEST_F(DatabaseHostile, AnAnswerThatComesByteByByteIsTheSame) {
    how_.command_timeout = 20s;
    ASSERT_EQ(ask("SELECT 1")->value(), "1");
    way().split(100'000);
    const asked call = ask_all({"SELECT 7", "SELECT NULL, 'abc'", "SELECT 9"});
    EXPECT_EQ(call->value(), "9") << call->text;
}

TEST_F(DatabaseHostile, AnAnswerThatIsCutAnywhereIsUnknown) {
    for (std::size_t length = 1; length < 60; length += 7) {
        ASSERT_EQ(ask("SELECT 1")->value(), "1");
        way().split(length);
        const asked call = ask("SELECT 2");
        EXPECT_EQ(call->code, errc::outcome_unknown) << length << call->text;
        forget_database();
        way_.emplace(server().port());
        how_.servers = {{"127.0.0.1", way_->port()}};
    }
}

// Several servers, of which one has the locks.

class DatabaseFailover : public database_on_server {
protected:
    DatabaseFailover()
        : database_on_server{support::mariadb_server::options{}} {}

    void SetUp() override {
        database_on_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        other_.emplace(support::mariadb());
        how_.unix_socket.clear();
        how_.servers = {{"127.0.0.1", server().port()}, {"127.0.0.1", other_->port()}};
        how_.backoff_max = 100ms;
    }
    support::mariadb_server& other() { return *other_; }

    std::string port() { return connection_of(ask("SELECT @@port")); }
    bool is_at(support::mariadb_server& which) { return port() == std::to_string(which.port()); }

    std::optional<support::mariadb_server> other_;
};

TEST_F(DatabaseFailover, TheFirstThatTakesWritesIsUsed) {
    EXPECT_TRUE(is_at(server()));
    forget_database();
    server().sql("SET GLOBAL read_only = ON");
    EXPECT_TRUE(is_at(other()));
    EXPECT_EQ(told_.count(event_kind::moved), 0u) << "it was never elsewhere";
}

TEST_F(DatabaseFailover, AServerThatDiesIsReplacedAndAllHoldsAreInDoubt) {
    ASSERT_TRUE(is_at(server()));
    holds_ = true;
    server().stop();
    ASSERT_TRUE(run_until([&] { return told_.count(event_kind::reconnected) == 1; }));
    EXPECT_TRUE(is_at(other()));
    EXPECT_THAT(doubts_, ElementsAre(true));
    ASSERT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_THAT(told_.last(event_kind::moved)->name, HasSubstr(std::to_string(other().port())));
}

TEST_F(DatabaseFailover, OneThatTurnsReadOnlyIsLeftAtItsFirstAnswer) {
    server().sql("CREATE TABLE t (k INT PRIMARY KEY) ENGINE=InnoDB");
    ASSERT_TRUE(is_at(server()));
    server().sql("SET GLOBAL read_only = ON");
    EXPECT_EQ(ask("INSERT INTO t VALUES (1)")->code, make_error_code(store_errc::read_only));
    EXPECT_TRUE(is_at(other()));
    EXPECT_THAT(doubts_, ElementsAre(true));
}

TEST_F(DatabaseFailover, WhereNoneTakesWritesTheTextTellsOfEach) {
    server().sql("SET GLOBAL read_only = ON");
    other().stop();
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, errc::unreachable);
    EXPECT_THAT(call->text,
                AllOf(HasSubstr("read-only"), HasSubstr(std::to_string(other().port()))));
    other().start();
    EXPECT_TRUE(run_until([&] { return is_at(other()); }));
}

/// A replica would grant the lock without the knowledge of its primary.
TEST_F(DatabaseFailover, AReplicaIsNotAsked) {
    other().shut_down();
    server().restart({"--log-bin", "--server-id=1"});
    other().restart({"--server-id=2"});
    other().sql("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=" +
                std::to_string(server().port()) + ", MASTER_USER='nobody', MASTER_PASSWORD='x'");
    server().sql("CREATE USER copier@'%' IDENTIFIED BY 'x'");
    server().sql("GRANT REPLICATION SLAVE ON *.* TO copier@'%'");
    other().sql("CHANGE MASTER TO MASTER_USER='copier', MASTER_USE_GTID=slave_pos");
    other().sql("START SLAVE");
    support::until("the replica runs",
                   [&] { return other().value("SHOW STATUS LIKE 'Slave_running'") != ""; });
    how_.servers = {{"127.0.0.1", other().port()}};
    ASSERT_TRUE(run_until(
        [&] { return other().sql("SHOW STATUS LIKE 'Slave_running'").at(0).at(1) == "ON"; }));
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::read_only)) << call->text;
    EXPECT_THAT(call->text, HasSubstr("replica"));
}

/// A name that leads to several servers, or a proxy: one client does not ask two for one lock.
TEST_F(DatabaseFailover, AConnectionThatMeetsAnotherServerTakesAllOthersAlong) {
    how_.connections_max = 2;
    const std::uint16_t port = server().port();
    how_.servers = {{"127.0.0.1", port}};
    ASSERT_TRUE(is_at(server()));
    // The old connection lives on, and the address leads elsewhere.
    const asked busy = begin({"SELECT SLEEP(60)"});
    ASSERT_TRUE(run_until([&] {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "state = 'User sleep'") == "1";
    }));
    server().sql("SET GLOBAL server_id = 77"); // as another server looks
    const asked call = ask("SELECT 1");
    EXPECT_EQ(call->code, error_code{}) << call->text;
    ASSERT_TRUE(run_until([&] { return busy->done; }));
    EXPECT_EQ(busy->code, errc::outcome_unknown) << busy->text;
    EXPECT_THAT(busy->text, HasSubstr("another server"));
    EXPECT_EQ(told_.count(event_kind::moved), 1u);
    EXPECT_THAT(doubts_, ElementsAre(true));
}

} // namespace
} // namespace holdfast
