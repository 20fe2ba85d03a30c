// SPDX-License-Identifier: Apache-2.0
// zk:// and zookeeper://.
#include "support/read_store_url.hpp"
#include "url/zookeeper.hpp"

#include <gmock/gmock.h>

namespace holdfast::url {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
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
    {"zk:h", "behind zk: two slashes and a host must follow, as in zk://127.0.0.1:2181/chroot"},
    {"zk://", "it names no host"},
    {"zk:///chroot", "it names no host, as in zk://127.0.0.1:2181/chroot"},
    {"zk://a,,b", "one of its hosts is empty; hosts are separated by one ','"},
    {"zk://a:1,b:x", "is no number from 1 to 65535"},
    {"zk://h?form=redisson", "form \"redisson\" is none of curator and kazoo"},
    {"zk://h?acl=world", "acl \"world\" is none of open and creator"},
    {"zk://h?names_are_paths=1", "names_are_paths \"1\" is neither yes nor no"},
    {"zk://h?session_timeout=8", "session_timeout \"8\" has no unit"},
    {"zk://h?sesion_timeout=8s", "do you mean session_timeout?"},
    {"zk://h?tls_ca_file=/a", "tls_ca_file needs tls=yes beside it"},
    {"zk://h?polling=1us", "there is no parameter \"polling\"; known are lease_time, "},
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
