// SPDX-License-Identifier: Apache-2.0
#include "mysql/database.hpp"
#include "mysql/server_answers.hpp"
#include "support/recorder.hpp"
#include "support/tls.hpp"

#include <functional>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using ::testing::HasSubstr;

error_code code_of(unsigned error, const char* words = "") {
    return classify(error, words).code;
}

TEST(MysqlClassify, ADeadlockIsAskedOnceMoreAndWasNotCarriedOut) {
    for (const unsigned error : {1205u, 1213u, 3101u}) {
        const meaning what = classify(error, "");
        EXPECT_TRUE(what.again) << error;
        EXPECT_FALSE(what.cut) << error;
        EXPECT_EQ(what.code, errc::unreachable) << error;
    }
}

TEST(MysqlClassify, AServerThatTakesNoWritesIsLeft) {
    for (const unsigned error : {1290u, 1792u, 1836u, 1047u, 3168u}) {
        const meaning what = classify(error, "");
        EXPECT_TRUE(what.leave && what.cut) << error;
        EXPECT_EQ(what.code, make_error_code(store_errc::read_only)) << error;
    }
}

TEST(MysqlClassify, WhatEndsAStatementInItsMiddleIsUnknownAndTheConnectionGoes) {
    for (const unsigned error : {2006u, 2013u, 2055u, 1317u, 1927u, 1969u, 3024u, 4031u, 1180u}) {
        const meaning what = classify(error, "");
        EXPECT_TRUE(what.cut) << error;
        EXPECT_EQ(what.code, errc::outcome_unknown) << error;
    }
}

TEST(MysqlClassify, NoneOfThatIsUnknownWhileConnecting) {
    for (const unsigned error : {2006u, 2013u, 2055u, 1927u, 2027u})
        EXPECT_EQ(classify_connecting(error, "").code, errc::unreachable) << error;
}

TEST(MysqlClassify, AnswersThatAreNoneAreOfTheProtocol) {
    EXPECT_EQ(code_of(2027), make_error_code(store_errc::protocol));
    EXPECT_EQ(code_of(2014), make_error_code(store_errc::protocol));
}

TEST(MysqlClassify, AServerThatIsFullOrGoesDownIsUnreachable) {
    for (const unsigned error : {1040u, 1203u, 1226u})
        EXPECT_EQ(code_of(error), make_error_code(store_errc::too_many_clients)) << error;
    for (const unsigned error : {1053u, 2002u, 2003u, 2005u})
        EXPECT_EQ(code_of(error), make_error_code(errc::unreachable)) << error;
}

TEST(MysqlClassify, ALimitOfTheAccountIsNotTheServers) {
    for (const char* const limit : {"max_questions", "max_updates", "max_connections_per_hour"}) {
        const meaning hourly = classify(1226, "User 'app' has exceeded the '" + std::string{limit} +
                                                  "' resource (current value: 1)");
        EXPECT_EQ(hourly.code, errc::refused) << limit;
        EXPECT_THAT(hourly.hint, HasSubstr("per hour"));
    }
    const meaning connections =
        classify(1226, "User 'app' has exceeded the 'max_user_connections' resource");
    EXPECT_EQ(connections.code, store_errc::too_many_clients);
    EXPECT_THAT(connections.hint, HasSubstr("MAX_USER_CONNECTIONS"));
}

TEST(MysqlClassify, RefusalsAreToldApart) {
    for (const unsigned error : {1044u, 1045u, 1156u, 1251u, 2059u, 1698u})
        EXPECT_EQ(code_of(error), make_error_code(store_errc::not_authenticated)) << error;
    for (const unsigned error : {1142u, 1143u, 1227u})
        EXPECT_EQ(code_of(error), make_error_code(store_errc::no_permission)) << error;
    for (const unsigned error : {1049u, 1146u, 1054u})
        EXPECT_EQ(code_of(error), make_error_code(store_errc::not_set_up)) << error;
    EXPECT_EQ(code_of(1064), make_error_code(store_errc::other));
    EXPECT_EQ(code_of(1235), make_error_code(store_errc::other)) << "the bell's own";
    EXPECT_EQ(code_of(1064), errc::refused);
}

TEST(MysqlClassify, AFullDiskIsUnreachable) {
    for (const unsigned error : {1021u, 1114u, 3u})
        EXPECT_EQ(code_of(error), make_error_code(store_errc::disk_trouble)) << error;
    EXPECT_EQ(code_of(1030, "Got error 28 \"No space left on device\" from storage engine InnoDB"),
              make_error_code(store_errc::disk_trouble));
    EXPECT_EQ(code_of(1030, "Got error 122 from storage engine"),
              make_error_code(store_errc::other));
}

TEST(MysqlClassify, TlsIsToldByItsWords) {
    EXPECT_EQ(
        code_of(2026, "TLS/SSL error: certificate verify failed (unable to get local issuer)"),
        make_error_code(store_errc::untrusted));
    EXPECT_EQ(code_of(2026, "TLS/SSL error: Validation of SSL server certificate failed"),
              make_error_code(store_errc::untrusted));
    EXPECT_EQ(code_of(2026, "TLS/SSL error: SSL is required, but the server does not support it"),
              make_error_code(store_errc::tls_failed));
    EXPECT_TRUE(classify(2026, "").cut);
}

TEST(MysqlClassify, AFailureHasTheNumberTheWordsAndWhatToDo) {
    const meaning what = classify(2059, "Plugin caching_sha2_password could not be loaded");
    const net::failure why = failure_of(what, 2059, "Plugin caching_sha2_password …");
    EXPECT_THAT(why.text(), HasSubstr("error 2059: Plugin caching_sha2_password"));
    EXPECT_THAT(why.text(), HasSubstr("libmariadb3"));
}

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

server_info of(const variables& global, const variables& status = mariadb_status) {
    return server_info_of(global, status, false);
}

TEST(MysqlFacts, AreReadFromVariables) {
    const server_info seen = of(mariadb);
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

std::vector<result> role_answers(const std::string& schema_is_on, const std::string& running) {
    std::vector<result> said(3);
    said[0].rows = {{schema_is_on, running}};
    said[1].error = said[2].error = 1227;
    return said;
}

TEST(MysqlFacts, AMysqlThatTellsNoRoleIsRefused) {
    const server_info mysql = of(with(mariadb, "version", "9.7.4"), {{"Uptime", "12"}});
    ASSERT_TRUE(mysql.facts.role_is_unknown);
    server_facts denied = mysql.facts, unknown = mysql.facts, primary = mysql.facts;
    std::vector<result> nothing(3);
    nothing[0].error = nothing[1].error = nothing[2].error = 1142;
    judge_role(denied, nothing);
    judge_role(unknown, role_answers("0", "0"));
    judge_role(primary, role_answers("1", "0"));
    for (const server_facts& each : {denied, unknown}) {
        const auto why = objection_to({.facts = each});
        ASSERT_TRUE(why);
        EXPECT_EQ(why->code(), store_errc::unfit);
        EXPECT_THAT(why->text(), HasSubstr("REPLICATION CLIENT"));
    }
    EXPECT_FALSE(objection_to({.facts = primary}));
}

TEST(MysqlFacts, AChannelWithoutTheStatesOfBothThreadsIsRefused) {
    const server_info mysql = of(with(mariadb, "version", "9.7.4"), {{"Uptime", "12"}});
    std::vector<std::optional<std::string>> no_receiver(56, "No"), no_applier(56, "No");
    no_receiver[10].reset();
    no_applier[11].reset();
    const std::vector<std::optional<std::string>> too_short(11, "No");
    for (const std::size_t shown_at : {1U, 2U})
        for (const auto& channel : {no_receiver, no_applier, too_short}) {
            std::vector<result> said = role_answers("1", "0");
            said[shown_at].error = 0;
            said[shown_at].rows = {channel};
            server_facts told = mysql.facts;
            judge_role(told, said);
            EXPECT_TRUE(told.role_is_unknown);
            EXPECT_TRUE(objection_to({.facts = told}));
        }
}

TEST(MysqlFacts, ACountOfReplicasThatIsNullIsRefused) {
    const server_info mysql = of(with(mariadb, "version", "9.7.4"), {{"Uptime", "12"}});
    std::vector<result> said = role_answers("1", "0");
    said[0].rows[0][1].reset();
    server_facts told = mysql.facts;
    judge_role(told, said);
    EXPECT_TRUE(told.role_is_unknown);
    said[1] = {}; // SHOW REPLICA STATUS lists no channel
    told = mysql.facts;
    judge_role(told, said);
    EXPECT_FALSE(told.role_is_unknown);
}

TEST(MysqlFacts, AReplicaIsSeenByAnyAnswerThatTells) {
    const server_info mysql = of(with(mariadb, "version", "9.7.4"), {{"Uptime", "12"}});
    server_facts counted = mysql.facts, shown = mysql.facts, stopped = mysql.facts;
    judge_role(counted, role_answers("1", "2"));
    EXPECT_TRUE(counted.is_replica);

    std::vector<result> status(3);
    status[0].error = 1142;
    status[2].error = 1064; // SHOW SLAVE STATUS is gone
    std::vector<std::optional<std::string>> channel(56, "");
    channel[10] = channel[11] = "No";
    status[1].rows = {channel};
    judge_role(stopped, status);
    EXPECT_FALSE(stopped.is_replica);
    EXPECT_FALSE(stopped.role_is_unknown);
    for (const char* const state : {"Yes", "Connecting"}) {
        status[1].rows[0][10] = state;
        shown = mysql.facts;
        judge_role(shown, status);
        EXPECT_TRUE(shown.is_replica) << state;
    }
    status[1].rows[0][55] = "group_replication_applier";
    shown = mysql.facts;
    judge_role(shown, status);
    EXPECT_FALSE(shown.is_replica) << "a member of a group is told by its read_only";
}

TEST(MysqlFacts, GaleraHasSeveralWritersAndMustBeReady) {
    const variables galera = with(mariadb, "wsrep_on", "ON");
    const server_info ready = of(galera, with(mariadb_status, "wsrep_ready", "ON"));
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
    const auto late = objection_to(server_info_of(mariadb, mariadb_status, true));
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

using outcome = classification::outcome;

statement_answer well(bool open = false) {
    statement_answer one;
    one.open = open;
    return one;
}
statement_answer changing(bool open = false) {
    statement_answer one = well(open);
    one.what.matched = 1;
    return one;
}
statement_answer failing() {
    statement_answer one;
    one.what.error = 1205;
    return one;
}

outcome came_of(const std::vector<statement_answer>& all, bool was_open = false,
                call_options options = {}) {
    return classify(all, was_open, options).what;
}
call_options leaves_open() {
    call_options options;
    options.leaves_open = true;
    return options;
}
call_options rest_is_hint() {
    call_options options;
    options.rest_is_hint = true;
    return options;
}

TEST(MysqlJudgement, AllWellIsCarriedOut) {
    EXPECT_EQ(came_of({well()}), outcome::carried_out);
    EXPECT_EQ(came_of({well(true), well(true), well()}), outcome::carried_out);
}

TEST(MysqlJudgement, ATransactionMayStayOpenOnlyWhereThatIsWished) {
    EXPECT_EQ(came_of({well(true)}), outcome::unknown);
    EXPECT_EQ(came_of({well(true)}, false, leaves_open()), outcome::left_open);
    EXPECT_EQ(came_of({well()}, true, leaves_open()), outcome::carried_out);
}

TEST(MysqlJudgement, TheFirstErrorMeansThatNothingWasDone) {
    EXPECT_EQ(came_of({failing()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({failing(), well()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({failing(), well()}, false, rest_is_hint()), outcome::not_carried_out);
}

TEST(MysqlJudgement, AnErrorBehindWhatWasDoneIsUnknownUnlessItIsAHint) {
    EXPECT_EQ(came_of({well(), failing()}), outcome::unknown);
    EXPECT_EQ(came_of({well(), failing()}, false, rest_is_hint()), outcome::carried_out);
}

TEST(MysqlJudgement, AnErrorInATransactionIsRolledBackUnlessItWentOn) {
    EXPECT_EQ(came_of({well(true), failing()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({well(true), changing(true), failing()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({well(true), failing(), failing()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({well(true), changing(true), failing(), well()}), outcome::unknown);
    EXPECT_EQ(came_of({well(true), failing(), changing(), well()}), outcome::unknown);
    EXPECT_EQ(came_of({failing()}, true), outcome::not_carried_out);
    EXPECT_EQ(came_of({failing(), well()}, true), outcome::unknown);
    EXPECT_EQ(came_of({well(true), failing()}, false, rest_is_hint()), outcome::not_carried_out);
}

TEST(MysqlJudgement, ACommitOfNothingIsNothing) {
    EXPECT_EQ(came_of({well(true), failing(), well()}), outcome::not_carried_out);
    EXPECT_EQ(came_of({well(true), failing(), failing(), well(), well()}),
              outcome::not_carried_out);
}

TEST(MysqlJudgement, ErrorInTransactionThatIsStillOpenIsNotCarriedOut) {
    EXPECT_EQ(came_of({well(true), failing(), changing(true), well(true)}, false, leaves_open()),
              outcome::not_carried_out);
    EXPECT_EQ(came_of({well(true), failing(), changing(true), well()}, false, leaves_open()),
              outcome::unknown);
}

TEST(MysqlJudgement, ErrorIsNotCarriedOutIfOnlyChangesBeforeEffectWereCommitted) {
    call_options options;
    options.effect_at = 0;
    EXPECT_EQ(came_of({failing(), well()}, true, options), outcome::not_carried_out);
    EXPECT_EQ(came_of({failing(), changing(), well()}, true, options), outcome::unknown);
    EXPECT_EQ(came_of({changing(true), failing(), well()}, true, options), outcome::unknown);
    options.effect_at = 2;
    EXPECT_EQ(came_of({well(true), changing(true), failing(), well()}, false, options),
              outcome::not_carried_out);
    EXPECT_EQ(
        came_of({well(true), changing(true), changing(true), failing(), well()}, false, options),
        outcome::unknown);
}

TEST(MysqlJudgement, ALockWaitIsAnAnswerOnlyWhereItIsWished) {
    call_options options;
    options.may_meet_lock = 1;
    EXPECT_EQ(came_of({well(true), failing(), well()}, false, options), outcome::met_lock);
    EXPECT_EQ(came_of({well(true), failing(), failing()}, false, options), outcome::met_lock);
    EXPECT_EQ(came_of({failing(), well()}, false, options), outcome::not_carried_out);
    EXPECT_EQ(came_of({well(true), changing(true), failing(), well()}, false, options),
              outcome::unknown);
    statement_answer other = failing();
    other.what.error = 1213;
    EXPECT_EQ(came_of({well(true), other, changing()}, false, options), outcome::unknown);
}

TEST(MysqlJudgement, TellsWhichWasTheFirst) {
    EXPECT_EQ(classify(std::vector{well(), failing(), failing()}, false, {}).failed, 1u);
    EXPECT_EQ(classify(std::vector{well(), well()}, false, {}).failed, 2u);
}

using namespace std::chrono_literals;

options usual_options() {
    options made;
    made.schema = "app";
    return made;
}

std::string objection(const std::function<void(options&)>& change) {
    options how = usual_options();
    change(how);
    const support::thrown why = support::thrown_by([&] { checked(how); });
    EXPECT_TRUE(!why.code || why.code == make_error_code(errc::invalid_argument)) << why.text;
    return why.code ? why.text : "";
}

TEST(MysqlOptions, TheUsualOnesAreAllowed) {
    EXPECT_EQ(objection([](options&) {}), "");
    EXPECT_EQ(objection([](options& how) { how.unix_socket = "/run/mysqld/mysqld.sock"; }), "");
    EXPECT_EQ(objection([](options& how) { how.servers = {{"a", 0}, {"a", 3307}, {"b", 0}}; }), "");
}

TEST(MysqlOptions, ServersAreOneToSixtyFourDifferentOnes) {
    EXPECT_THAT(objection([](options& how) { how.servers.clear(); }), HasSubstr("servers"));
    EXPECT_THAT(objection([](options& how) {
                    how.servers = {{"a", 0}, {"a", 3306}};
                }),
                HasSubstr("twice: number 1 and 2"));
    EXPECT_THAT(objection([](options& how) { how.servers = {{"", 1}}; }), HasSubstr("empty"));
    EXPECT_THAT(objection([](options& how) {
                    how.servers.assign(65, {"a", 1});
                }),
                HasSubstr("65 entries"));
    EXPECT_THAT(objection([](options& how) {
                    how.servers = {{std::string("a\0b", 3), 1}};
                }),
                HasSubstr("NUL"));
}

TEST(MysqlOptions, NamesOfSchemaAndTableAreIdentifiers) {
    for (const char* const field : {"schema", "table"}) {
        const auto with = [&](const std::string& name) {
            return objection([&](options& how) {
                (std::string{field} == "schema" ? how.schema : how.table) = name;
            });
        };
        EXPECT_THAT(with(""), HasSubstr(std::string{field} + " is empty"));
        EXPECT_THAT(with(std::string(65, 'a')), HasSubstr("65 bytes"));
        for (const char* const bad : {"a`b", "a.b", "a/b", "a\\b"})
            EXPECT_THAT(with(bad), HasSubstr("backquote")) << bad;
        EXPECT_THAT(with(std::string("a\0b", 3)), HasSubstr("NUL"));
        EXPECT_THAT(with("a "), HasSubstr("blank"));
        EXPECT_EQ(with("a-b_1"), "");
    }
}

TEST(MysqlOptions, TimesHaveBounds) {
    EXPECT_THAT(objection([](options& how) { how.connect_timeout = 0ms; }),
                HasSubstr("connect_timeout is 0 ms; allowed are 1 ms to 1 day"));
    EXPECT_THAT(objection([](options& how) { how.command_timeout = 25h; }),
                HasSubstr("command_timeout"));
    EXPECT_THAT(objection([](options& how) { how.keep_alive = 999ms; }),
                HasSubstr("keep_alive is 999 ms; allowed are 1000 ms to 1 day"));
    EXPECT_THAT(objection([](options& how) { how.backoff_min = 0ms; }), HasSubstr("backoff_min"));
    EXPECT_THAT(objection([](options& how) { how.backoff_max = 49ms; }),
                HasSubstr("backoff_min is longer than backoff_max"));
}

TEST(MysqlOptions, NumbersHaveBounds) {
    EXPECT_THAT(objection([](options& how) { how.connections_max = 0; }),
                HasSubstr("connections_max is 0; allowed are 1 to 1000"));
    EXPECT_THAT(objection([](options& how) { how.wait_connections_max = 1001; }),
                HasSubstr("wait_connections_max is 1001; allowed are 0 to 1000"));
    EXPECT_EQ(objection([](options& how) { how.wait_connections_max = 0; }), "");
    EXPECT_THAT(objection([](options& how) { how.requests_max = 0; }), HasSubstr("requests_max"));
}

TEST(MysqlOptions, TlsIsForTcpAndForTheHostItself) {
    EXPECT_THAT(objection([](options& how) {
                    how.tls.emplace();
                    how.unix_socket = "/s";
                }),
                HasSubstr("tls cannot be used with unix_socket"));
    EXPECT_THAT(objection([](options& how) { how.tls = tls_options{.server_name = "other"}; }),
                HasSubstr("tls.server_name is \"other\""));
    EXPECT_EQ(objection([](options& how) {
                  how.servers = {{"db", 0}};
                  how.tls = tls_options{.server_name = "db"};
              }),
              "");
    EXPECT_THAT(objection([](options& how) { how.tls = tls_options{.key_file = "k"}; }),
                HasSubstr("belong together"));
    EXPECT_THAT(objection([](options& how) { how.tls = tls_options{.ca_file = "/none.pem"}; }),
                HasSubstr("/none.pem"));
    EXPECT_THAT(objection([](options& how) {
                    how.tls.emplace();
                    how.server_key_file = "k";
                }),
                HasSubstr("server_key_file"));
}

TEST(MysqlOptions, NothingThatIsATextForTheLibraryHasANulByte) {
    EXPECT_THAT(objection([](options& how) { how.user = std::string("a\0b", 3); }),
                HasSubstr("user"));
    EXPECT_THAT(objection([](options& how) { how.password = std::string("a\0b", 3); }),
                HasSubstr("password"));
    EXPECT_THAT(objection([](options& how) { how.unix_socket = std::string(108, 's'); }),
                HasSubstr("107 bytes"));
}

} // namespace
} // namespace holdfast::mysql
