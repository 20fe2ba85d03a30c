// SPDX-License-Identifier: Apache-2.0
#include "mysql/facts.hpp"

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using ::testing::HasSubstr;

const variables mariadb{{"version", "10.11.19-MariaDB-0+deb12u1"},
                        {"read_only", "OFF"},
                        {"innodb_read_only", "OFF"},
                        {"wsrep_on", "OFF"},
                        {"binlog_format", "MIXED"},
                        {"innodb_flush_log_at_trx_commit", "1"},
                        {"sql_mode", "STRICT_TRANS_TABLES"},
                        {"max_user_connections", "7"},
                        {"wait_timeout", "28800"},
                        {"hostname", "db"},
                        {"port", "3306"},
                        {"server_id", "1"},
                        {"datadir", "/var/lib/mysql/"}};
const variables mariadb_status{{"Slaves_running", "0"}, {"Uptime", "12"}, {"wsrep_ready", "OFF"}};

variables with(variables all, const std::string& name, const std::string& value) {
    all[name] = value;
    return all;
}

portrait of(const variables& global, const variables& status = mariadb_status) {
    return portrait_of(global, status, false);
}

TEST(MysqlFacts, AreReadFromVariables) {
    const portrait seen = of(mariadb);
    EXPECT_TRUE(seen.facts.is_mariadb);
    EXPECT_FALSE(seen.facts.read_only);
    EXPECT_FALSE(seen.facts.has_several_writers);
    EXPECT_EQ(seen.facts.connections_of_user_max, 7u);
    EXPECT_EQ(seen.facts.idle_limit, std::chrono::hours{8});
    EXPECT_EQ(seen.facts.flush_at_commit, "1");
    EXPECT_EQ(seen.uptime, std::chrono::seconds{12});
    EXPECT_FALSE(objection_to(seen));
}

TEST(MysqlFacts, TwoServersOnOneMachineAreNotTheSame) {
    EXPECT_NE(of(mariadb).server, of(with(mariadb, "port", "3307")).server);
    EXPECT_NE(of(mariadb).server, of(with(mariadb, "datadir", "/elsewhere")).server);
    const variables mysql = with(with(mariadb, "version", "9.7.4"), "server_uuid", "u-1");
    EXPECT_EQ(of(mysql).server, of(with(mysql, "hostname", "alias")).server);
    EXPECT_FALSE(of(mysql).facts.is_mariadb);
}

TEST(MysqlFacts, AServerThatTakesNoWritesIsUnreachable) {
    for (const char* const name : {"read_only", "super_read_only", "innodb_read_only"}) {
        const auto why = objection_to(of(with(mariadb, name, "ON")));
        ASSERT_TRUE(why) << name;
        EXPECT_EQ(why->code(), make_error_code(store_errc::read_only)) << name;
    }
    EXPECT_TRUE(objection_to(of(with(mariadb, "read_only", "NO_LOCK_NO_ADMIN"))))
        << "MariaDB 12 has more words for it than ON";
}

TEST(MysqlFacts, AReplicaIsRefusedWhereItIsSeen) {
    const auto why = objection_to(of(mariadb, with(mariadb_status, "Slaves_running", "1")));
    ASSERT_TRUE(why);
    EXPECT_THAT(why->text(), HasSubstr("replica"));
    EXPECT_TRUE(objection_to(of(mariadb, with(mariadb_status, "Slave_running", "ON"))));
}

TEST(MysqlFacts, GaleraHasSeveralWritersAndMustBeReady) {
    const variables galera = with(mariadb, "wsrep_on", "ON");
    const portrait ready = of(galera, with(mariadb_status, "wsrep_ready", "ON"));
    EXPECT_TRUE(ready.facts.has_several_writers);
    EXPECT_FALSE(objection_to(ready));
    EXPECT_TRUE(objection_to(of(galera)));
}

TEST(MysqlFacts, GroupReplicationHasSeveralWritersWithSeveralPrimaries) {
    const variables group = with(mariadb, "group_replication_group_name", "a-b-c");
    EXPECT_FALSE(
        of(with(group, "group_replication_single_primary_mode", "ON")).facts.has_several_writers);
    EXPECT_TRUE(
        of(with(group, "group_replication_single_primary_mode", "OFF")).facts.has_several_writers);
}

TEST(MysqlFacts, WhatCouldGrantLateIsRefused) {
    const auto late = objection_to(portrait_of(mariadb, mariadb_status, true));
    ASSERT_TRUE(late);
    EXPECT_EQ(late->code(), make_error_code(store_errc::unfit));
    const auto lost = objection_to(of(with(mariadb, "binlog_format", "STATEMENT")));
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->code(), make_error_code(store_errc::unfit));
}

TEST(MysqlFacts, ASessionThatIsNotAsItWasSetIsRefused) {
    const variables good{{"autocommit", "ON"},
                         {"completion_type", "NO_CHAIN"},
                         {"sql_mode", "STRICT_ALL_TABLES"},
                         {"time_zone", "+00:00"}};
    EXPECT_FALSE(objection_to_session(good));
    for (const auto& [name, value] : good) {
        const auto why = objection_to_session(with(good, name, "other"));
        ASSERT_TRUE(why) << name;
        EXPECT_THAT(why->text(), HasSubstr(name));
    }
    EXPECT_TRUE(objection_to_session({}));
}

TEST(MysqlFacts, AVariableIsARowOfTwo) {
    result answer;
    answer.rows = {{"a", "1"}, {"b", std::nullopt}, {"c"}};
    const variables all = variables_in(answer);
    EXPECT_EQ(all.at("a"), "1");
    EXPECT_EQ(all.at("b"), "");
    EXPECT_EQ(all.size(), 2u);
}

} // namespace
} // namespace holdfast::mysql
