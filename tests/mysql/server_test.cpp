// SPDX-License-Identifier: Apache-2.0
// What the other tests take for granted of the servers that they start.
#include "support/mariadb_server.hpp"
#include "support/on_each_server.hpp"

#include <chrono>
#include <memory>

#include <gtest/gtest.h>
#include <signal.h>

namespace holdfast {
namespace {

using support::mariadb_server;

class MariadbServer : public ::testing::Test {
protected:
    void start(mariadb_server::options how = {}) {
        server_ = std::make_unique<mariadb_server>(support::mariadb(), std::move(how));
    }
    void SetUp() override {
        support::make_or_skip([this] { start(); });
    }
    std::string tables() {
        return server_->value("SELECT COUNT(*) FROM information_schema.tables "
                              "WHERE table_schema = 'holdfast_test'");
    }

    std::unique_ptr<mariadb_server> server_;
};

TEST_F(MariadbServer, KeepsItsDataOverAKillAndNotWhenItIsEmptied) {
    server_->sql("CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB");
    server_->sql("INSERT INTO t VALUES (7)");
    server_->restart();
    EXPECT_EQ(server_->value("SELECT a FROM t"), "7");
    server_->restart_empty();
    EXPECT_EQ(tables(), "0");
}

TEST_F(MariadbServer, MakesItsOperatorANewConnectionWhereOneWasKilled) {
    const std::string id = server_->value("SELECT CONNECTION_ID()");
    server_->connect().run("KILL " + id);
    EXPECT_NE(server_->value("SELECT CONNECTION_ID()"), id);
}

TEST_F(MariadbServer, CarriesItsDateWithIt) {
    start({.own_clock = true});
    const long before = std::stol(server_->value("SELECT UNIX_TIMESTAMP(SYSDATE())"));
    server_->step_clock(std::chrono::hours{1});
    EXPECT_GE(std::stol(server_->value("SELECT UNIX_TIMESTAMP(SYSDATE())")), before + 3600);
}

TEST_F(MariadbServer, TakesStatementsWhoseErrorsHaveTheirNumbers) {
    try {
        server_->sql("SELECT * FROM no_such_table");
        ADD_FAILURE() << "it took it";
    } catch (const support::sql_error& why) {
        EXPECT_EQ(why.code, 1146U);
    }
}

TEST(SqlConnection, LeavesSigpipeAsItWas) {
    EXPECT_THROW((support::sql_connection{"/there/is/none", {}}), support::sql_error);
    struct sigaction now {};
    sigaction(SIGPIPE, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
}

} // namespace
} // namespace holdfast
