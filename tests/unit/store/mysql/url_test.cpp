// SPDX-License-Identifier: Apache-2.0
// mysql://, mariadb:// and their sockets.
#include "store/mysql/mysql_store.hpp"
#include "support/read_store_url.hpp"
#include "support/source_tree.hpp"

#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>

namespace holdfast::mysql {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

options options_of(std::string_view text) {
    return support::read_store_url(text, read_url);
}

TEST(MysqlUrl, IsWhatItSaysAndTheDefaultsOtherwise) {
    const options defaults;
    for (const char* scheme : {"mysql", "mariadb", "MySQL"}) {
        const options how = options_of(std::string{scheme} + "://db.internal/shop");
        EXPECT_THAT(how.servers, ElementsAre(server_address{"db.internal", 0}));
        EXPECT_EQ(how.schema, "shop");
        EXPECT_EQ(how.unix_socket, "");
        EXPECT_EQ(how.user, "");
        EXPECT_TRUE(how.password.empty());
        EXPECT_EQ(how.table, defaults.table);
        EXPECT_TRUE(how.bell);
        EXPECT_FALSE(how.sweep);
        EXPECT_FALSE(how.tls);
    }
}

TEST(MysqlUrl, ItMayHaveSeveralServers) {
    const options how = options_of("mysql://us%65r:p%40s%2C@a:3307,b,[::1]:1/my%2Fschema/");
    EXPECT_THAT(how.servers, ElementsAre(server_address{"a", 3307}, server_address{"b", 0},
                                         server_address{"::1", 1}));
    EXPECT_EQ(how.user, "user");
    EXPECT_EQ(how.password.reveal(), "p@s,");
    EXPECT_EQ(how.schema, "my/schema");
}

TEST(MysqlUrl, ASocketHasAPathAndADatabase) {
    for (const char* scheme : {"mysql+unix", "mariadb+unix"}) {
        const options how =
            options_of(std::string{scheme} + "://app:word@/run/my%20sql.sock?database=shop");
        EXPECT_EQ(how.unix_socket, "/run/my sql.sock");
        EXPECT_EQ(how.schema, "shop");
        EXPECT_EQ(how.user, "app");
        EXPECT_EQ(how.password.reveal(), "word");
    }
    EXPECT_EQ(options_of("mysql+unix:/run/a.sock?database=b").unix_socket, "/run/a.sock");
}

TEST(MysqlUrl, ItsParametersAreSet) {
    const options how = options_of(
        "mysql://h?database=shop&table=our_locks&connections_max=7&wait_connections_max=0&bell=no"
        "&sweep=yes&keep_alive=1m&connect_timeout=1s&command_timeout=40ms&server_key_file=/k%20y"
        "&lease_time=10s&prefix=a");
    EXPECT_EQ(how.schema, "shop");
    EXPECT_EQ(how.table, "our_locks");
    EXPECT_EQ(how.connections_max, 7u);
    EXPECT_EQ(how.wait_connections_max, 0u);
    EXPECT_FALSE(how.bell);
    EXPECT_TRUE(how.sweep);
    EXPECT_EQ(how.keep_alive, 1min);
    EXPECT_EQ(how.connect_timeout, 1s);
    EXPECT_EQ(how.command_timeout, 40ms);
    EXPECT_EQ(how.server_key_file, "/k y");
}

TEST(MysqlUrl, TlsIsAParameterAndBringsMore) {
    const options how =
        options_of("mariadb://h/s?tls_ca_file=/a&tls_certificate_file=/c&tls_key_file=/k"
                   "&tls_server_name=db&tls=yes");
    ASSERT_TRUE(how.tls);
    EXPECT_EQ(how.tls->ca_file, "/a");
    EXPECT_EQ(how.tls->certificate_file, "/c");
    EXPECT_EQ(how.tls->key_file, "/k");
    EXPECT_EQ(how.tls->server_name, "db");
    EXPECT_FALSE(how.tls->insecure_skip_verification);
    EXPECT_FALSE(options_of("mysql://h/s?tls=no").tls);
    EXPECT_TRUE(options_of("mysql://h/s?tls=yes&tls_insecure_skip_verification=yes")
                    .tls->insecure_skip_verification);
}

TEST(MysqlUrl, TheClientsProviderOfPasswordsIsPassedOn) {
    const auto provider = [] { return holdfast::credentials{"vault", "word"}; };
    const options how = support::read_store_url("mysql://h/s", read_url, provider);
    ASSERT_TRUE(how.credentials);
    EXPECT_EQ(how.credentials().user, "vault");
}

struct mistake {
    const char* url;
    const char* said;
};
constexpr mistake mistakes[] = {
    {"mysql:h/s", "after mysql: two slashes and a host must follow, as in mysql://127.0.0.1:3306"},
    {"mysql:///s", "it names no host, as in mysql://127.0.0.1:3306/SCHEMA"},
    {"mariadb://a,,b/s", "one of its hosts is empty"},
    {"mysql://h:0/s", "from 1 to 65535; write an IPv6 address in brackets, as in mysql://[::1]"},
    {"mysql://h", "it names no schema (the database that has the tables); give it after the hosts, "
                  "as in mysql://"},
    {"mariadb://h/", "as in mariadb://127.0.0.1:3306/SCHEMA"},
    {"mysql://h/?database=", "it names no schema"},
    {"mysql://h/a/b", "only a '/' and the schema (the database) may follow"},
    {"mysql://h//b", "only a '/' and the schema (the database) may follow"},
    {"mysql://h/a?database=b", "the database is given twice"},
    {"mysql://h/s?tabble=a", "unknown parameter \"tabble\"; do you mean table?"},
    {"mysql://h/s?conections_max=1", "do you mean connections_max?"},
    {"mysql://h/s?leese_time=1s", "do you mean lease_time?"},
    {"mysql://h/s?pubsub=auto",
     "unknown parameter \"pubsub\"; the allowed parameters are lease_time, "},
    {"mysql://h/s?table=a&table=b", "table is given twice"},
    {"mysql://h/s?bell=off", "bell must be yes or no, not \"off\""},
    {"mysql://h/s?sweep=1", "sweep must be yes or no, not \"1\""},
    {"mysql://h/s?connections_max=few", "connections_max \"few\" is not a whole number, as in 100"},
    {"mysql://h/s?connections_max=4294967296", "is not a whole number up to 4294967295"},
    {"mysql://h/s?keep_alive=30", "keep_alive \"30\" has no unit"},
    {"mysql://h/s?tls=on", "tls must be yes or no, not \"on\""},
    {"mysql://h/s?tls_ca_file=/a", "tls_ca_file requires tls=yes; without TLS, nothing is"},
    {"mysql://h/s?tls=no&tls_server_name=a", "tls_server_name requires tls=yes"},
    {"mysql://h/s?tls_insecure_skip_verification=yes", "verification requires tls=yes"},
    {"mysql+unix://h/run/a.sock?database=s", "a unix socket has no host; its path begins at"},
    {"mysql+unix:///?database=s", "it names no socket"},
    {"mysql+unix:run/a.sock?database=s", "it names no socket"},
    {"mysql+unix:///run/a.sock", "as in mysql+unix:///run/mysqld/mysqld.sock?database=SCHEMA"},
    {"mysql+unix:///run/a.sock?database=s&tls=yes", "unknown parameter \"tls\""},
};

TEST(MysqlUrl, EachMistakeIsNamedWithWhatIsAllowed) {
    for (const mistake& each : mistakes)
        EXPECT_THAT(support::url_refusal(each.url, read_url), HasSubstr(each.said)) << each.url;
}

/// Quoted in the first column of that section's table.
std::set<std::string> named_in_page() {
    std::ifstream page{support::source_file("docs/url.md")};
    std::set<std::string> found;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## "))
            inside = line == "## Parameters of MySQL and MariaDB";
        if (!inside || !line.starts_with("| `"))
            continue;
        std::istringstream cell{line.substr(1, line.find('|', 1) - 1)};
        for (std::string part; std::getline(cell, part, '`') && std::getline(cell, part, '`');)
            found.insert(part);
    }
    return found;
}

TEST(MysqlUrl, ThePageTellsOfEachParameter) {
    const std::string words =
        support::url_refusal("mysql://h/s?" + std::string(100, 'x') + "=1", read_url);
    std::set<std::string> known;
    std::istringstream list{words.substr(words.find(", announce, ") + 12)}; // behind the client's
    for (std::string word; std::getline(list >> std::ws, word, ',');)
        known.insert(word);
    EXPECT_GT(known.size(), 10u);
    EXPECT_EQ(named_in_page(), known);
}

TEST(MysqlUrl, APasswordIsNeverShown) {
    for (const char* url : {
             "mysql://user:SECRET@h",
             "mysql://user:SECRET@h/a/b",
             "mysql://user:SECRET",
             "mysql://user:a/SECRET@h/s?tls=x",
             "mysql://user:a/b?table=SECRET@h/s",
             "mysql://user:1?bell=SECRET@h/s",
             "mysql://user:1,SECRET",
             "mysql+unix://user:SECRET@h/run/a.sock?database=s",
             "mysql+unix://user:SECRET@/run/a.sock",
             "mysql://h/s?password=SECRET",
         })
        EXPECT_THAT(support::url_refusal(url, read_url), Not(HasSubstr("SECRET"))) << url;
}

} // namespace
} // namespace holdfast::mysql
