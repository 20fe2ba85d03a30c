// SPDX-License-Identifier: Apache-2.0
// Checks that the database servers of the tests have the properties that other tests rely on.
#include "support/mariadb_server.hpp"
#include "support/on_each_server.hpp"

#include <chrono>
#include <memory>

#include <gtest/gtest.h>
#include <signal.h>

namespace holdfast {
namespace {

using support::mariadb_server;

class MysqlServer : public ::testing::TestWithParam<support::server_binary> {
protected:
    void start(mariadb_server::options how = {}) {
        server_.reset(); // two need not be there at once
        server_ = std::make_unique<mariadb_server>(GetParam(), std::move(how));
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

INSTANTIATE_TEST_SUITE_P(Servers, MysqlServer, ::testing::ValuesIn(support::mysql_servers()),
                         support::test_name_of);

TEST_P(MysqlServer, KeepsItsDataOverAKillAndNotWhenItIsEmptied) {
    server_->sql("CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB");
    server_->sql("INSERT INTO t VALUES (7)");
    server_->restart();
    EXPECT_EQ(server_->value("SELECT a FROM t"), "7");
    server_->restart_empty();
    EXPECT_EQ(tables(), "0");
}

TEST_P(MysqlServer, MakesItsOperatorANewConnectionWhereOneWasKilled) {
    const std::string id = server_->value("SELECT CONNECTION_ID()");
    server_->connect().run("KILL " + id);
    EXPECT_NE(server_->value("SELECT CONNECTION_ID()"), id);
}

TEST_P(MysqlServer, CarriesItsDateWithIt) {
    start({.own_clock = true});
    const long before = std::stol(server_->value("SELECT UNIX_TIMESTAMP(SYSDATE())"));
    server_->step_clock(std::chrono::hours{1});
    EXPECT_GE(std::stol(server_->value("SELECT UNIX_TIMESTAMP(SYSDATE())")), before + 3600);
}

TEST_P(MysqlServer, TakesStatementsWhoseErrorsHaveTheirNumbers) {
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
