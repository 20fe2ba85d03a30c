// SPDX-License-Identifier: Apache-2.0
// Connections that have something open.
#include "database_on_server.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class DatabaseCarriers : public database_with_rows {
protected:
    asked ask_on(const std::shared_ptr<mysql::carrier>& on, const std::string& what) {
        mysql::call_wishes wishes;
        wishes.on = on;
        return ask(what, wishes);
    }
    asked open_transaction() {
        mysql::call_wishes wishes;
        wishes.leaves_open = true;
        return ask_all({"START TRANSACTION", "SELECT v FROM t WHERE k = 1 FOR UPDATE"}, wishes);
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

TEST_F(DatabaseCarriers, ABellIsAskedForOnItsConnection) {
    how_.connections_max = 2;
    const asked taken = ask("SELECT GET_LOCK('carried', 0), CONNECTION_ID()");
    ASSERT_EQ(taken->value(), "1") << taken->text;
    EXPECT_EQ(ask_on(taken->got.by, "SELECT RELEASE_LOCK('carried')")->value(), "1");
}

TEST_F(DatabaseCarriers, ATransactionIsEndedWhereItWasBegun) {
    const asked begun = open_transaction();
    ASSERT_EQ(begun->code, error_code{}) << begun->text;
    EXPECT_EQ(ask("SELECT @@in_transaction")->value(), "0") << "nobody else comes in";
    mysql::call_wishes wishes;
    wishes.on = begun->got.by;
    const asked ended = ask_all({"UPDATE t SET v = 77 WHERE k = 1", "COMMIT"}, wishes);
    EXPECT_EQ(ended->code, error_code{}) << ended->text;
    EXPECT_EQ(value_of_1(), "77");
}

TEST_F(DatabaseCarriers, ATransactionThatIsLeftEndsWithItsConnection) {
    asked begun = open_transaction();
    ASSERT_EQ(begun->code, error_code{}) << begun->text;
    begun->got.by.reset();
    EXPECT_TRUE(run_until([&] { return row_is_free(); }));
}

TEST_F(DatabaseCarriers, AnOpenTransactionThatNobodyWishedForIsUnknown) {
    const asked call = ask_all({"START TRANSACTION", "UPDATE t SET v = 9 WHERE k = 1"});
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
    EXPECT_THAT(call->text, HasSubstr("transaction"));
    EXPECT_EQ(value_of_1(), "10");
    EXPECT_EQ(ask("SELECT @@in_transaction")->value(), "0");
}

/// `completion_type` CHAIN would open another one behind each COMMIT.
TEST_F(DatabaseCarriers, ChainedTransactionsAreSwitchedOff) {
    server().sql("SET GLOBAL completion_type = CHAIN");
    const asked call = ask_all({"START TRANSACTION", "UPDATE t SET v = 9 WHERE k = 1", "COMMIT"});
    server().sql("SET GLOBAL completion_type = NO_CHAIN");
    EXPECT_EQ(call->code, error_code{}) << call->text;
    EXPECT_EQ(value_of_1(), "9");
}

TEST_F(DatabaseCarriers, AnErrorInATransactionRollsItBack) {
    const asked call =
        ask_all({"START TRANSACTION", "UPDATE t SET v = 9 WHERE k = 1", "SELECT nothing FROM t"});
    EXPECT_EQ(call->code, make_error_code(store_errc::not_set_up)) << call->text;
    EXPECT_EQ(value_of_1(), "10");
    EXPECT_EQ(ask("SELECT @@in_transaction")->value(), "0");
}

TEST_F(DatabaseCarriers, AnErrorThatWasOvertakenByCommitIsUnknown) {
    const asked call = ask_all(
        {"START TRANSACTION", "SELECT nothing FROM t", "UPDATE t SET v = 9 WHERE k = 1", "COMMIT"});
    EXPECT_EQ(call->code, errc::outcome_unknown) << call->text;
}

TEST_F(DatabaseCarriers, WhoWaitsHasAConnectionOfItsOwn) {
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

TEST_F(DatabaseCarriers, AWaitThatIsCalledOffEndsAtOnce) {
    server().sql("DO 0");
    auto other = server().connect();
    ASSERT_EQ(other.value("SELECT GET_LOCK('called off', 0)"), "1");
    const auto on = connection_to_wait_on();
    ASSERT_TRUE(on);
    mysql::call_wishes wishes;
    wishes.on = on;
    const asked wait = begin({"SELECT GET_LOCK('called off', 60)"}, wishes);
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

TEST_F(DatabaseCarriers, AConnectionThatIsGivenBackHasNoUserLocksAndServesTheNextOneWhoWaits) {
    auto on = connection_to_wait_on();
    const asked took = ask_on(on, "SELECT CONCAT(GET_LOCK('left behind', 0), ':', "
                                  "CONNECTION_ID())");
    took->got.by.reset();
    took->wishes.on.reset();
    on.reset();
    ASSERT_TRUE(
        run_until([&] { return server().value("SELECT IS_FREE_LOCK('left behind')") == "1"; }));
    ask("SELECT 1");
    on = connection_to_wait_on();
    const asked again = ask_on(on, "SELECT CONCAT('1:', CONNECTION_ID())");
    EXPECT_EQ(again->value(), took->value());
}

TEST_F(DatabaseCarriers, ThereIsNoneWhereBellsAreOff) {
    how_.bell = false;
    EXPECT_EQ(connection_to_wait_on(), nullptr);
    EXPECT_FALSE(database().has_bells());
}

TEST_F(DatabaseCarriers, ThereIsNoneWhereTheServerDoesNotKnowThem) {
    EXPECT_TRUE(database().has_bells());
    database().no_bells_here();
    EXPECT_FALSE(database().has_bells());
    EXPECT_EQ(connection_to_wait_on(), nullptr);
}

} // namespace
} // namespace holdfast
