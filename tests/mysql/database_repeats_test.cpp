// SPDX-License-Identifier: Apache-2.0
// What was not carried out, and is asked once more.
#include "database_on_server.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

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
    mysql::call_wishes wishes;
    wishes.may_meet_lock = 1;
    // The last one has no end of its own.
    const asked call =
        ask_all({"START TRANSACTION", "UPDATE t SET v = v + 1 WHERE k = 1", "DO 0"}, wishes);
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
    mysql::call_wishes wishes;
    wishes.leaves_open = true;
    const asked begun =
        ask_all({"START TRANSACTION", "SELECT v FROM t WHERE k = 1 FOR UPDATE"}, wishes);
    ASSERT_EQ(begun->code, error_code{}) << begun->text;
    auto other = server().connect();
    other.run("START TRANSACTION");
    other.run("UPDATE t SET v = 11 WHERE k = 2");
    mysql::call_wishes second;
    second.on = begun->got.by;
    const asked ended = ask_all({"UPDATE t SET v = 5 WHERE k = 2"}, second);
    EXPECT_EQ(ended->code, make_error_code(store_errc::try_again)) << ended->text;
    EXPECT_EQ(ended->what.composed, 1);
    EXPECT_EQ(ask("SELECT @@in_transaction")->value(), "0");
}

} // namespace
} // namespace holdfast
