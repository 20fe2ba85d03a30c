// SPDX-License-Identifier: Apache-2.0
#include "database_on_server.hpp"
#include "mysql/store_fixture.hpp"
#include "support/on_each_server.hpp"

#include <boost/asio/use_future.hpp>

#include <memory>
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
    mysql::call_options options;
    options.rest_is_hint = true;
    const asked call =
        ask_all({"UPDATE t SET v = 5 WHERE k = 1", "SELECT nothing FROM t"}, options);
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

TEST_F(Database, LimitsOfTheServerDoNotApplyToItsSession) {
    for (const char* const each : {"sql_select_limit=1", "sql_safe_updates=1",
                                   "max_statement_time=7", "lock_wait_timeout=8"})
        server().sql("SET GLOBAL " + std::string{each});
    const asked told = ask("SELECT CONCAT_WS(' ',@@sql_select_limit,@@sql_safe_updates,"
                           "@@max_statement_time,@@lock_wait_timeout)");
    for (const char* const each :
         {"sql_select_limit", "sql_safe_updates", "max_statement_time", "lock_wait_timeout"})
        server().sql("SET GLOBAL " + std::string{each} + "=DEFAULT");
    EXPECT_EQ(told->value(), "18446744073709551615 OFF 0.000000 1");
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

// Connections that have something open.

class DatabasePinned : public database_with_rows {
protected:
    asked ask_on(const std::shared_ptr<mysql::pinned_connection>& on, const std::string& what) {
        mysql::call_options options;
        options.on = on;
        return ask(what, options);
    }
    asked open_transaction() {
        mysql::call_options options;
        options.leaves_open = true;
        return ask_all({"START TRANSACTION", "SELECT v FROM t WHERE k = 1 FOR UPDATE"}, options);
    }
    bool row_is_free() {
        try {
            server().sql("SELECT v FROM t WHERE k = 1 FOR UPDATE NOWAIT");
            return true;
        } catch (const support::sql_error&) {
            return false;
        }
    }
    std::string value_of_1() { return server().value("SELECT v FROM t WHERE k = 1"); }
};

TEST_F(DatabasePinned, ABellIsAskedForOnItsConnection) {
    how_.connections_max = 2;
    const asked taken = ask("SELECT GET_LOCK('carried', 0), CONNECTION_ID()");
    ASSERT_EQ(taken->value(), "1") << taken->text;
    EXPECT_EQ(ask_on(taken->got.by, "SELECT RELEASE_LOCK('carried')")->value(), "1");
}

TEST_F(DatabasePinned, ATransactionIsEndedWhereItWasBegun) {
    const asked begun = open_transaction();
    ASSERT_EQ(begun->code, error_code{}) << begun->text;
    EXPECT_EQ(ask("SELECT @@in_transaction")->value(), "0") << "nobody else comes in";
    mysql::call_options options;
    options.on = begun->got.by;
    const asked ended = ask_all({"UPDATE t SET v = 77 WHERE k = 1", "COMMIT"}, options);
    EXPECT_EQ(ended->code, error_code{}) << ended->text;
    EXPECT_EQ(value_of_1(), "77");
}

TEST_F(DatabasePinned, ATransactionThatIsLeftEndsWithItsConnection) {
    asked begun = open_transaction();
    ASSERT_EQ(begun->code, error_code{}) << begun->text;
    begun->got.by.reset();
    EXPECT_TRUE(run_until([&] { return row_is_free(); }));
}

TEST_F(DatabasePinned, AnOpenTransactionThatNobodyWishedForIsUnknown) {
    const asked call = ask_all({"START TRANSACTION", "UPDATE t SET v = 9 WHERE k = 1"});
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
    EXPECT_THAT(call->text, HasSubstr("transaction"));
    EXPECT_EQ(value_of_1(), "10");
    EXPECT_EQ(ask("SELECT @@in_transaction")->value(), "0");
}

/// `completion_type` CHAIN would open another one behind each COMMIT.
TEST_F(DatabasePinned, ChainedTransactionsAreSwitchedOff) {
    server().sql("SET GLOBAL completion_type = CHAIN");
    const asked call = ask_all({"START TRANSACTION", "UPDATE t SET v = 9 WHERE k = 1", "COMMIT"});
    server().sql("SET GLOBAL completion_type = NO_CHAIN");
    EXPECT_EQ(call->code, error_code{}) << call->text;
    EXPECT_EQ(value_of_1(), "9");
}

TEST_F(DatabasePinned, AnErrorInATransactionRollsItBack) {
    const asked call =
        ask_all({"START TRANSACTION", "UPDATE t SET v = 9 WHERE k = 1", "SELECT nothing FROM t"});
    EXPECT_EQ(call->code, make_error_code(store_errc::not_set_up)) << call->text;
    EXPECT_EQ(value_of_1(), "10");
    EXPECT_EQ(ask("SELECT @@in_transaction")->value(), "0");
}

TEST_F(DatabasePinned, AnErrorThatWasOvertakenByCommitIsUnknown) {
    const asked call = ask_all(
        {"START TRANSACTION", "SELECT nothing FROM t", "UPDATE t SET v = 9 WHERE k = 1", "COMMIT"});
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
}

TEST_F(DatabasePinned, WhoWaitsHasAConnectionOfItsOwn) {
    how_.wait_connections_max = 2;
    const auto first = connection_to_wait_on();
    const auto second = connection_to_wait_on();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(connection_to_wait_on(), nullptr) << "there are no more";
    EXPECT_FALSE(waiting_failed_);
    const asked one = ask_on(first, "SELECT CONNECTION_ID()");
    const asked other = ask_on(second, "SELECT CONNECTION_ID()");
    const asked shared = ask("SELECT CONNECTION_ID()");
    EXPECT_NE(one->value(), other->value());
    EXPECT_NE(one->value(), shared->value());
}

TEST_F(DatabasePinned, AWaitThatIsCalledOffEndsAtOnce) {
    server().sql("DO 0");
    auto other = server().connect();
    ASSERT_EQ(other.value("SELECT GET_LOCK('called off', 0)"), "1");
    const auto on = connection_to_wait_on();
    ASSERT_TRUE(on);
    mysql::call_options options;
    options.on = on;
    const asked wait = begin({"SELECT GET_LOCK('called off', 60)"}, options);
    ASSERT_TRUE(run_until([&] {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "state = 'User lock'") == "1";
    }));
    on->cut();
    ASSERT_TRUE(run_until([&] { return wait->done; }));
    EXPECT_EQ(wait->code, errc::outcome_unknown) << wait->text;
    EXPECT_TRUE(on->is_cut());
    EXPECT_EQ(ask_on(on, "SELECT 1")->code, errc::unreachable);
}

TEST_F(DatabasePinned, AConnectionThatIsGivenBackHasNoUserLocksAndServesTheNextOneWhoWaits) {
    auto on = connection_to_wait_on();
    const asked took = ask_on(on, "SELECT CONCAT(GET_LOCK('left behind', 0), ':', "
                                  "CONNECTION_ID())");
    took->got.by.reset();
    took->options.on.reset();
    on.reset();
    ASSERT_TRUE(
        run_until([&] { return server().value("SELECT IS_FREE_LOCK('left behind')") == "1"; }));
    ask("SELECT 1");
    on = connection_to_wait_on();
    const asked again = ask_on(on, "SELECT CONCAT('1:', CONNECTION_ID())");
    EXPECT_EQ(again->value(), took->value());
}

TEST_F(DatabasePinned, ThereIsNoneWhereBellsAreOff) {
    how_.bell = false;
    EXPECT_EQ(connection_to_wait_on(), nullptr);
    EXPECT_FALSE(database().has_bells());
}

TEST_F(DatabasePinned, ThereIsNoneWhereTheServerDoesNotKnowThem) {
    EXPECT_TRUE(database().has_bells());
    database().no_bells_here();
    EXPECT_FALSE(database().has_bells());
    EXPECT_EQ(connection_to_wait_on(), nullptr);
}

// Requests that were not executed and are sent once more.

class DatabaseRepeats : public database_with_rows {};

/// The lock wait of the first attempt ends after one second; by then the row is free.
TEST_F(DatabaseRepeats, ALockWaitIsRepeated) {
    how_.command_timeout = 20s;
    auto other = server().connect();
    other.run("START TRANSACTION");
    other.run("UPDATE t SET v = 11 WHERE k = 1");
    const asked call = begin({"UPDATE t SET v = v + 1 WHERE k = 1"});
    ASSERT_TRUE(run_until([&] { return call->what.composed == 2; }));
    other.run("COMMIT");
    ASSERT_TRUE(run_until([&] { return call->done; }));
    EXPECT_EQ(call->code, error_code{}) << call->text;
    EXPECT_EQ(server().value("SELECT v FROM t WHERE k = 1"), "12");
}

TEST_F(DatabaseRepeats, ALockThatStaysIsUnreachableAndNothingWasDone) {
    how_.command_timeout = 20s;
    auto other = server().connect();
    other.run("START TRANSACTION");
    other.run("UPDATE t SET v = 11 WHERE k = 1");
    const asked call = ask("UPDATE t SET v = v + 1 WHERE k = 1");
    EXPECT_EQ(call->code, make_error_code(store_errc::try_again)) << call->text;
    EXPECT_EQ(call->code, errc::unreachable);
    EXPECT_EQ(call->what.composed, 4);
    EXPECT_THAT(call->text, HasSubstr("1205"));
}

TEST_F(DatabaseRepeats, WhereALockMayBeMetItIsAnAnswerAndNothingStaysOpen) {
    how_.command_timeout = 20s;
    how_.connections_max = 1;
    auto other = server().connect();
    other.run("START TRANSACTION");
    other.run("UPDATE t SET v = 11 WHERE k = 1");
    mysql::call_options options;
    options.may_meet_lock = 1;
    // The last one has no end of its own.
    const asked call =
        ask_all({"START TRANSACTION", "UPDATE t SET v = v + 1 WHERE k = 1", "DO 0"}, options);
    ASSERT_EQ(call->code, error_code{}) << call->text;
    EXPECT_EQ(call->what.composed, 1);
    EXPECT_EQ(call->got.of.at(1).error, 1205U);
    EXPECT_EQ(ask("SELECT @@in_transaction")->value(), "0");
}

TEST_F(DatabaseRepeats, ADeadlockIsRepeated) {
    how_.command_timeout = 20s;
    auto other = server().connect();
    other.run("START TRANSACTION");
    other.run("SELECT * FROM t WHERE k = 2 FOR UPDATE");
    const asked call = begin({"START TRANSACTION", "UPDATE t SET v = 1 WHERE k = 1",
                              "UPDATE t SET v = 1 WHERE k = 2", "COMMIT"});
    ASSERT_TRUE(run_until([&] { return server().counted("Innodb_row_lock_current_waits") == 1; }));
    // The other one has changed nothing but holds more: whoever is the victim, both come through.
    std::string victim;
    try {
        other.run("UPDATE t SET v = 2 WHERE k = 1");
        other.run("COMMIT");
    } catch (const support::sql_error& why) {
        victim = why.what();
    }
    ASSERT_TRUE(run_until([&] { return call->done; }));
    // A victim's COMMIT behind the error is no success of what was lost: that is unknown.
    if (victim.empty())
        EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
    else
        EXPECT_EQ(call->code, error_code{}) << call->text;
}

TEST_F(DatabaseRepeats, AnErrorInATransactionOfTwoCallsIsNotRepeated) {
    how_.command_timeout = 20s;
    mysql::call_options options;
    options.leaves_open = true;
    const asked begun =
        ask_all({"START TRANSACTION", "SELECT v FROM t WHERE k = 1 FOR UPDATE"}, options);
    ASSERT_EQ(begun->code, error_code{}) << begun->text;
    auto other = server().connect();
    other.run("START TRANSACTION");
    other.run("UPDATE t SET v = 11 WHERE k = 2");
    mysql::call_options second;
    second.on = begun->got.by;
    const asked ended = ask_all({"UPDATE t SET v = 5 WHERE k = 2"}, second);
    EXPECT_EQ(ended->code, make_error_code(store_errc::try_again)) << ended->text;
    EXPECT_EQ(ended->what.composed, 1);
    EXPECT_EQ(ask("SELECT @@in_transaction")->value(), "0");
}

} // namespace
} // namespace holdfast

namespace holdfast::mysql {
namespace {

// The server's date is moved while a lock is held.

using support::eventually;

/// Its date is moved.
class MysqlDate : public ::testing::Test {
protected:
    void SetUp() override {
        support::make_or_skip([this] {
            server_ = std::make_unique<support::mariadb_server>(
                support::mariadb(), support::mariadb_server::options{.own_clock = true});
            make_tables_at(*server_);
        });
    }
    client make_client(holdfast::options more = {}) const {
        return client_of(reaching(*server_), std::move(more));
    }
    std::unique_ptr<support::mariadb_server> server_;
};

TEST_F(MysqlDate, AStepForwardIsALossThatIsToldWithTheNextRenewal) {
    client home = make_client({.lease_time = 3s}), other = make_client();
    fenced_mutex lock{home, "stock"}, same{other, "stock"};
    const lease held = lease_of(lock);
    server_->step_clock(long_lease);
    const lease next = lease_of(same);
    EXPECT_GT(next.fencing_token(), held.fencing_token());
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_TRUE(next.owns_lock());
}

TEST_F(MysqlDate, AfterAStepBackTokensGrowAndWhatIsReleasedCanBeTaken) {
    client home = make_client(), other = make_client();
    fenced_mutex lock{home, "stock"}, same{other, "stock"};
    lease held = lease_of(lock);
    server_->step_clock(-long_lease);
    EXPECT_FALSE(same.try_lock());
    EXPECT_TRUE(held.owns_lock());
    error_code ec;
    held.unlock(ec);
    EXPECT_FALSE(ec) << ec.message();
    EXPECT_GT(lease_of(same).fencing_token(), held.fencing_token());
}

/// GET_LOCK waits until a date, which is an hour away then.
TEST_F(MysqlDate, TheBellIsOnlyAHintWhenTheDateIsSteppedBack) {
    const holdfast::options seldom{.poll_bound = std::chrono::hours{1}};
    client home = make_client(seldom), other = make_client(seldom);
    mutex lock{home, "stock"}, same{other, "stock"};
    session stranger{*server_};
    const std::string bell = bell_of(support::mariadb_server::schema, "holdfast_lock", "stock");
    ASSERT_EQ(stranger.value("SELECT GET_LOCK('" + bell + "',0)"), "1") << "and it never rings";
    lock.lock();
    std::future<lease> next = same.async_lock(boost::asio::use_future);
    ASSERT_TRUE(eventually([&] {
        return server_->value("SELECT COUNT(*) FROM information_schema.processlist WHERE "
                              "STATE='User lock'") == "1";
    }));
    server_->step_clock(-long_lease);
    lock.unlock();
    EXPECT_TRUE(support::soon(std::move(next)).owns_lock());
}

} // namespace
} // namespace holdfast::mysql
