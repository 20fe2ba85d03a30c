// SPDX-License-Identifier: Apache-2.0
#include "config/url.hpp"
#include "config/url_parts.hpp"
#include "config/validation.hpp"
#include "support/read_store_url.hpp"
#include "support/recorder.hpp"
#include "support/source_tree.hpp"

#include <holdfast/client.hpp>
#include <holdfast/options.hpp>

#include <cstdint>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::url {
namespace {

using namespace std::chrono_literals;

redis::options server_at(std::string_view text) {
    return read_server(split(text));
}

void apply_parameters(const parts& all, options& how, redis::options* server) {
    reading inside{all};
    store_url url{inside};
    read_client_parameters(url, how);
    read_server_parameters(url, *server);
    url.refuse_unknown();
}

TEST(UrlServer, IsWhatTheUrlSaysAndTheDefaultsOtherwise) {
    const redis::options defaults;
    const redis::options server = server_at("redis://db.internal");
    EXPECT_EQ(server.host, "db.internal");
    EXPECT_EQ(server.port, defaults.port);
    EXPECT_EQ(server.database, 0u);
    EXPECT_EQ(server.user, "");
    EXPECT_EQ(server.password.reveal(), "");
    EXPECT_EQ(server.unix_socket, "");
}

TEST(UrlServer, EveryPartIsDecoded) {
    const redis::options server = server_at("ReDiS://us%65r:p%40s%2Fs%3A@h%6Fst:1234/%31");
    EXPECT_EQ(server.user, "user");
    EXPECT_EQ(server.password.reveal(), "p@s/s:");
    EXPECT_EQ(server.host, "host");
    EXPECT_EQ(server.port, 1234);
    EXPECT_EQ(server.database, 1u);
}

TEST(UrlServer, APasswordMayHaveColonsAndNoUser) {
    const redis::options server = server_at("redis://:pass:word@host/4294967295");
    EXPECT_EQ(server.user, "");
    EXPECT_EQ(server.password.reveal(), "pass:word");
    EXPECT_EQ(server.database, 4294967295u);
    EXPECT_EQ(server_at("redis://user@host").user, "user");
}

TEST(UrlServer, AddressesOfIPv6StandInBrackets) {
    const redis::options server = server_at("redis://[fe80::1%25eth0]:7000/2");
    EXPECT_EQ(server.host, "fe80::1%eth0");
    EXPECT_EQ(server.port, 7000);
    EXPECT_EQ(server_at("redis://[::1]").host, "::1");
}

TEST(UrlServer, AUnixSocketHasAPath) {
    for (const char* url : {"unix:///run/a%20b.sock", "redis+unix:///run/a%20b.sock",
                            "unix:/run/a%20b.sock", "unix://user:word@/run/a%20b.sock"})
        EXPECT_EQ(server_at(url).unix_socket, "/run/a b.sock") << url;
    EXPECT_EQ(server_at("unix://user:word@/run/a.sock").password.reveal(), "word");
}

using redis::server_address;
using testing::ElementsAre;

TEST(UrlServer, SentinelsHaveHostsAndAService) {
    const redis::options server = server_at(
        "redis+sentinel://us%65r:w%2Cord@s1,s2:26380,[fd00::3]:1,a%2Cb/my%2Fmaster%20x/7");
    ASSERT_TRUE(server.sentinel);
    EXPECT_EQ(server.sentinel->service, "my/master x");
    EXPECT_THAT(server.sentinel->addresses,
                ElementsAre(server_address{"s1", 0}, server_address{"s2", 26380},
                            server_address{"fd00::3", 1}, server_address{"a,b", 0}));
    EXPECT_EQ(server.database, 7u);
    EXPECT_EQ(server.user, "user");
    EXPECT_EQ(server.password.reveal(), "w,ord");
    EXPECT_EQ(server.sentinel->user, "");
    EXPECT_TRUE(server.sentinel->password.empty());
    EXPECT_FALSE(server.tls);
    EXPECT_FALSE(server.cluster);
}

TEST(UrlServer, TheDatabaseBehindTheServiceMayBeLeftOut) {
    for (const char* url : {"redis+sentinel://s/orders", "redis+sentinel://s/orders/",
                            "REDIS+Sentinel://s/order%73/0"}) {
        EXPECT_EQ(server_at(url).sentinel->service, "orders") << url;
        EXPECT_EQ(server_at(url).database, 0u) << url;
    }
    EXPECT_EQ(server_at("redis+sentinel://s/0").sentinel->service, "0");
}

TEST(UrlServer, AClusterHasHosts) {
    const redis::options server = server_at("redis+cluster://user:word@c1:7000,[::1],c3");
    ASSERT_TRUE(server.cluster);
    EXPECT_THAT(
        server.cluster->addresses,
        ElementsAre(server_address{"c1", 7000}, server_address{"::1", 0}, server_address{"c3", 0}));
    EXPECT_EQ(server.user, "user");
    EXPECT_EQ(server.password.reveal(), "word");
    EXPECT_FALSE(server.sentinel);
    EXPECT_EQ(server_at("redis+cluster://c/0").database, 0u);
    EXPECT_EQ(server_at("redis+cluster://c/").cluster->addresses.size(), 1u);
}

TEST(UrlServer, SeveralOverTLSHaveItToo) {
    EXPECT_TRUE(server_at("rediss+sentinel://s/orders").tls);
    EXPECT_TRUE(server_at("rediss+cluster://c").tls);
    EXPECT_FALSE(server_at("redis+cluster://c").tls);
}

TEST(UrlServer, ParametersOfSeveralServersAreSet) {
    const parts all =
        split("redis+sentinel://s/orders?sentinel_user=w%61tch&sentinel_password=a%26b"
              "&replica_timeout=200ms&address_check=1m&topology_check=2s&pubsub=both");
    options how;
    redis::options server = read_server(all);
    apply_parameters(all, how, &server);
    EXPECT_EQ(server.sentinel->user, "watch");
    EXPECT_EQ(server.sentinel->password.reveal(), "a&b");
    EXPECT_EQ(server.replica_timeout, 200ms);
    EXPECT_EQ(server.address_check, 1min);
    EXPECT_EQ(server.topology_check, 2s);
    EXPECT_EQ(server.pubsub, redis::pubsub_form::both);
    for (const auto& [text, form] : {std::pair{"auto", redis::pubsub_form::automatic},
                                     {"plain", redis::pubsub_form::plain},
                                     {"sharded", redis::pubsub_form::sharded}}) {
        apply_parameters(split("redis://h?pubsub=" + std::string{text}), how, &server);
        EXPECT_EQ(server.pubsub, form) << text;
    }
}

TEST(UrlServer, DirectHandOffIsOffUnlessItIsSwitchedOn) {
    options how;
    redis::options server;
    EXPECT_FALSE(server.direct_hand_off);
    apply_parameters(split("redis://h?direct_hand_off=on"), how, &server);
    EXPECT_TRUE(server.direct_hand_off);
    apply_parameters(split("redis://h?direct_hand_off=off"), how, &server);
    EXPECT_FALSE(server.direct_hand_off);
}

TEST(UrlServer, AnEmptyUserOfTheSentinelsIsALoginOfTheirOwn) {
    for (const auto& [parameters, is_own] : {std::pair{"", false},
                                             {"?sentinel_user=", true},
                                             {"?sentinel_password=", true},
                                             {"?sentinel_user=&sentinel_password=", true}}) {
        const parts all = split("redis+sentinel://me:word@s/orders" + std::string{parameters});
        options how;
        redis::options server = read_server(all);
        apply_parameters(all, how, &server);
        EXPECT_EQ(server.sentinel->own_login, is_own) << parameters;
        EXPECT_TRUE(server.sentinel->user.empty());
        EXPECT_EQ(server.user, "me");
    }
}

TEST(UrlServer, ItsParametersAreSet) {
    const parts all =
        split("unix:///run/a.sock?database=7&connect_timeout=1s&command_timeout=40ms");
    options how;
    redis::options server = read_server(all);
    apply_parameters(all, how, &server);
    EXPECT_EQ(server.database, 7u);
    EXPECT_EQ(server.connect_timeout, 1s);
    EXPECT_EQ(server.command_timeout, 40ms);
}

TEST(UrlServer, OverTLSItHasMoreParameters) {
    EXPECT_FALSE(server_at("redis://host").tls);
    const parts all = split("RedisS://me:word@host/2?tls_ca_file=/a%20b&tls_certificate_file=/c"
                            "&tls_key_file=/k&tls_server_name=db.internal");
    options how;
    redis::options server = read_server(all);
    apply_parameters(all, how, &server);
    EXPECT_EQ(server.host, "host");
    EXPECT_EQ(server.port, redis::options{}.port);
    EXPECT_EQ(server.database, 2u);
    ASSERT_TRUE(server.tls);
    EXPECT_EQ(server.tls->ca_file, "/a b");
    EXPECT_EQ(server.tls->certificate_file, "/c");
    EXPECT_EQ(server.tls->key_file, "/k");
    EXPECT_EQ(server.tls->server_name, "db.internal");
    EXPECT_FALSE(server.tls->insecure_skip_verification);

    const parts unsafe = split("rediss://host?tls_insecure_skip_verification=yes");
    apply_parameters(unsafe, how, &server);
    EXPECT_TRUE(server.tls->insecure_skip_verification);
}

TEST(UrlServer, ParametersAreDecodedAfterTheyAreTakenApart) {
    const parts all = split("memory:a?prefix=a%26b%3D&label=x=y%20z+");
    ASSERT_EQ(all.parameters.size(), 2u);
    EXPECT_EQ(all.parameters[0].name, "prefix");
    EXPECT_EQ(all.parameters[0].value.reveal(), "a&b=");
    EXPECT_EQ(all.parameters[1].value.reveal(), "x=y z+");
}

// zk:// and zookeeper://.

using testing::HasSubstr;
using testing::Not;
using zookeeper::node_acl;
using zookeeper::node_form;

zookeeper::options ensemble_at(std::string_view text) {
    return support::read_store_url(text, read_ensemble);
}

TEST(ZookeeperUrl, IsWhatItSaysAndTheDefaultsOtherwise) {
    const zookeeper::options defaults;
    const zookeeper::options how = ensemble_at("zk://zk1");
    EXPECT_THAT(how.servers, ElementsAre(server_address{"zk1", 0}));
    EXPECT_EQ(how.chroot, "");
    EXPECT_EQ(how.root, defaults.root);
    EXPECT_FALSE(how.names_are_paths);
    EXPECT_EQ(how.form, node_form::curator);
    EXPECT_EQ(how.acl, node_acl::open);
    EXPECT_EQ(how.session_timeout, 0ms);
    EXPECT_FALSE(how.tls);
    EXPECT_EQ(how.user, "");
}

TEST(ZookeeperUrl, AnEnsembleHasHostsAndAChroot) {
    const zookeeper::options how =
        ensemble_at("ZooKeeper://us%65r:p%40s@zk1:2182,zk2,[fd00::3]:1/apps/my%20shop");
    EXPECT_THAT(how.servers, ElementsAre(server_address{"zk1", 2182}, server_address{"zk2", 0},
                                         server_address{"fd00::3", 1}));
    EXPECT_EQ(how.chroot, "/apps/my shop");
    EXPECT_EQ(how.user, "user");
    EXPECT_EQ(how.password.reveal(), "p@s");
}

TEST(ZookeeperUrl, ALastSlashIsNoChroot) {
    EXPECT_EQ(ensemble_at("zk://zk1/").chroot, "");
    EXPECT_EQ(ensemble_at("zk://zk1/apps/").chroot, "/apps");
}

TEST(ZookeeperUrl, ItsParametersAreSet) {
    const zookeeper::options how = ensemble_at(
        "zk://h/c?root=/our%20locks&names_are_paths=yes&form=kazoo&acl=creator&session_timeout=8s"
        "&connect_timeout=1s&command_timeout=40ms&lease_time=8s");
    EXPECT_EQ(how.chroot, "/c");
    EXPECT_EQ(how.root, "/our locks");
    EXPECT_TRUE(how.names_are_paths);
    EXPECT_EQ(how.form, node_form::kazoo);
    EXPECT_EQ(how.acl, node_acl::creator);
    EXPECT_EQ(how.session_timeout, 8s);
    EXPECT_EQ(how.connect_timeout, 1s);
    EXPECT_EQ(how.command_timeout, 40ms);
    EXPECT_EQ(ensemble_at("zk://h?form=curator&acl=open&names_are_paths=no").acl, node_acl::open);
}

TEST(ZookeeperUrl, TlsIsAParameterAndBringsMore) {
    const zookeeper::options how = ensemble_at("zk://h?tls=yes&tls_ca_file=/a&tls_server_name=zk");
    ASSERT_TRUE(how.tls);
    EXPECT_EQ(how.tls->ca_file, "/a");
    EXPECT_EQ(how.tls->server_name, "zk");
    EXPECT_FALSE(ensemble_at("zk://h?tls=no").tls);
}

struct mistake {
    const char* url;
    const char* said;
};
constexpr mistake mistakes[] = {
    {"zk:h", "after zk: two slashes and a host must follow, as in zk://127.0.0.1:2181/chroot"},
    {"zk://", "it names no host"},
    {"zk:///chroot", "it names no host, as in zk://127.0.0.1:2181/chroot"},
    {"zk://a,,b", "one of its hosts is empty; write one ',' between two hosts"},
    {"zk://a:1,b:x", "must be a number from 1 to 65535"},
    {"zk://h?form=redisson", "form \"redisson\" is not allowed; allowed are curator and kazoo"},
    {"zk://h?acl=world", "acl \"world\" is not allowed; allowed are open and creator"},
    {"zk://h?names_are_paths=1", "names_are_paths must be yes or no, not \"1\""},
    {"zk://h?session_timeout=8", "session_timeout \"8\" has no unit"},
    {"zk://h?sesion_timeout=8s", "do you mean session_timeout?"},
    {"zk://h?tls_ca_file=/a", "tls_ca_file requires tls=yes"},
    {"zk://h?polling=1us",
     "unknown parameter \"polling\"; the allowed parameters are lease_time, "},
    {"zk://h?root=/a&root=/b", "root is given twice"},
};

TEST(ZookeeperUrl, EachMistakeIsNamedWithWhatIsAllowed) {
    for (const mistake& each : mistakes)
        EXPECT_THAT(support::url_refusal(each.url, read_ensemble), HasSubstr(each.said))
            << each.url;
}

TEST(ZookeeperUrl, APasswordIsNeverShown) {
    for (const char* url : {
             "zk://user:SECRET",
             "zk://user:SECRET@h:x",
             "zk://user:SECRET@a,,b",
             "zk://user:a/SECRET@h?form=b",
             "zk://user:1?form=SECRET@h",
         })
        EXPECT_THAT(support::url_refusal(url, read_ensemble), Not(HasSubstr("SECRET"))) << url;
}

} // namespace
} // namespace holdfast::url

namespace holdfast {
namespace {

// docs/url.md tells of each parameter that there is, and of no other, and what is allowed there.

using names = std::set<std::string>;

/// A name that is like none is answered with all that are known.
names known_parameters(const std::string& url = "rediss://host") {
    const std::string unlike(100, 'x');
    const support::thrown refused = support::thrown_by([&] { client{url + "?" + unlike + "=1"}; });
    const std::string before_list = "the allowed parameters are ";
    const std::string list =
        refused.text.substr(refused.text.find(before_list) + before_list.size());
    names found;
    std::istringstream words{list};
    for (std::string word; std::getline(words >> std::ws, word, ',');)
        found.insert(word.substr(0, word.find(' ')));
    return found;
}

/// Quoted in the first column of a table, in the section of that title.
names named_in_section(const std::string& title) {
    std::ifstream page{support::source_file("docs/url.md")};
    names found;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## "))
            inside = line == "## " + title;
        if (!inside || !line.starts_with("| `"))
            continue;
        std::istringstream cell{line.substr(1, line.find('|', 1) - 1)};
        for (std::string part; std::getline(cell, part, '`') && std::getline(cell, part, '`');)
            found.insert(part);
    }
    return found;
}

/// The cells of the table's rows, without what encloses them.
std::vector<std::vector<std::string>> parameter_rows(const std::string& title = "Parameters") {
    std::ifstream page{support::source_file("docs/url.md")};
    std::vector<std::vector<std::string>> rows;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## "))
            inside = line == "## " + title;
        if (!inside || !line.starts_with("| `"))
            continue;
        std::istringstream cells{line.substr(1)};
        rows.emplace_back();
        for (std::string cell; std::getline(cells, cell, '|');)
            rows.back().push_back(cell.substr(1, cell.size() - 2));
    }
    return rows;
}

/// `1ms`, or `16`: a number, and its unit if it has one.
struct quantity {
    std::int64_t count;
    std::string unit;

    std::string plus(std::int64_t more) const { return std::to_string(count + more) + unit; }
};
std::optional<quantity> read_quantity(const std::string& quoted) {
    std::istringstream text{quoted};
    char quote = 0;
    quantity found{};
    if (text >> quote >> found.count && quote == '`' && std::getline(text, found.unit, '`'))
        return found;
    return std::nullopt;
}

bool is_taken(const std::string& name, const std::string& value,
              const std::string& url = "redis://host") {
    options how;
    how.url = url + "?" + name + "=" + value;
    const support::thrown refused = support::thrown_by([&] { check(resolve_url(how)); });
    const std::string field = name == "hand_off_within" ? "hand_off" : name;
    EXPECT_TRUE(!refused.code || refused.text.find(field) != std::string::npos) << refused.text;
    return !refused.code;
}

TEST(UrlPage, SaysWhatIsAllowed) {
    int lengths = 0, bounded = 0;
    for (const std::vector<std::string>& row : parameter_rows()) {
        ASSERT_GE(row.size(), 4u) << row.front();
        const std::string name = row[0].substr(1, row[0].size() - 2);
        if (name == "redisson")
            continue; // which is a version, and no quantity
        const auto usual = read_quantity(row[1]);
        const auto least = read_quantity(row[2]);
        if ((usual && !usual->unit.empty()) || name == "max_hold") {
            ASSERT_TRUE(least) << name << " is a length of time, and nothing is said of its bounds";
            ++lengths;
        }
        if (!least)
            continue;
        EXPECT_TRUE(is_taken(name, least->plus(0))) << name;
        EXPECT_FALSE(is_taken(name, least->plus(-1))) << name;
        if (row[2].ends_with(" and more")) {
            EXPECT_TRUE(is_taken(name, std::to_string(duration::max().count()) + "ms")) << name;
            continue;
        }
        const auto most = read_quantity(row[2].substr(row[2].find(" to ") + 4));
        ASSERT_TRUE(most) << name;
        EXPECT_TRUE(is_taken(name, most->plus(0))) << name;
        EXPECT_FALSE(is_taken(name, most->plus(1))) << name;
        ++bounded;
    }
    EXPECT_EQ(lengths, 14);
    EXPECT_EQ(bounded, 12);
}

TEST(UrlPage, TellsOfEveryParameterAndOfNoOther) {
    EXPECT_GT(known_parameters().size(), 10u);
    EXPECT_EQ(named_in_section("Parameters"), known_parameters());
}

TEST(UrlPage, TellsOfThoseOfZookeeperToo) {
    names all = named_in_section("Parameters of ZooKeeper");
    EXPECT_GT(all.size(), 10u);
    all.merge(known_parameters("memory:page")); // which every store has
    EXPECT_EQ(all, known_parameters("zk://host"));
    int bounded = 0;
    for (const std::vector<std::string>& row : parameter_rows("Parameters of ZooKeeper")) {
        const auto least = read_quantity(row.at(2));
        if (!least)
            continue;
        const std::string name = row[0].substr(1, row[0].size() - 2);
        const auto most = read_quantity(row[2].substr(row[2].find(" to ") + 4));
        ASSERT_TRUE(most) << name;
        EXPECT_TRUE(is_taken(name, least->plus(0), "zk://host")) << name;
        EXPECT_FALSE(is_taken(name, least->plus(-1), "zk://host")) << name;
        EXPECT_TRUE(is_taken(name, most->plus(0), "zk://host")) << name;
        EXPECT_FALSE(is_taken(name, most->plus(1), "zk://host")) << name;
        ++bounded;
    }
    EXPECT_EQ(bounded, 3);
}

} // namespace
} // namespace holdfast
