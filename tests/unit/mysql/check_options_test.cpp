// SPDX-License-Identifier: Apache-2.0
#include "mysql/check_options.hpp"
#include "support/certificates.hpp"
#include "support/thrown.hpp"

#include <functional>

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

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
                HasSubstr("twice, as number 1 and 2"));
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
                HasSubstr("tls is for TCP"));
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
