// SPDX-License-Identifier: Apache-2.0
#include "mysql/classify.hpp"

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

} // namespace
} // namespace holdfast::mysql
