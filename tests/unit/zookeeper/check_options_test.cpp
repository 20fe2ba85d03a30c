// SPDX-License-Identifier: Apache-2.0
#include "support/thrown.hpp"
#include "zookeeper/check_options.hpp"

#include <holdfast/error.hpp>

#include <functional>
#include <ostream>

#include <gmock/gmock.h>

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct fault {
    const char* words; ///< of the refusal
    std::function<void(options&)> make;
};
void PrintTo(const fault& one, std::ostream* out) {
    *out << one.words;
}

class WrongOption : public ::testing::TestWithParam<fault> {};

TEST_P(WrongOption, IsNamed) {
    options how;
    GetParam().make(how);
    const auto told = support::thrown_by([&] { checked(how); });
    EXPECT_EQ(told.code, errc::invalid_argument);
    EXPECT_THAT(told.text, HasSubstr(GetParam().words));
    EXPECT_THAT(told.text, HasSubstr("zookeeper::options: "));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongOption,
    ::testing::Values(
        fault{"servers has 0 entries", [](options& o) { o.servers.clear(); }},
        fault{"servers has 65 entries",
              [](options& o) {
                  o.servers.resize(65, {"a", 1});
              }},
        fault{"a host is empty",
              [](options& o) {
                  o.servers = {{"", 1}};
              }},
        fault{"NUL byte",
              [](options& o) {
                  o.servers = {{std::string{"a\0b", 3}, 1}};
              }},
        fault{"servers has a:2181 twice",
              [](options& o) {
                  o.servers = {{"a", 0}, {"a", 2181}};
              }},
        fault{"chroot is no path", [](options& o) { o.chroot = "a"; }},
        fault{"chroot is no path", [](options& o) { o.chroot = "/"; }},
        fault{"chroot is no path", [](options& o) { o.chroot = "/a/"; }},
        fault{"root is no path", [](options& o) { o.root = ""; }},
        fault{"root is no path", [](options& o) { o.root = "/a//b"; }},
        fault{"root is no path", [](options& o) { o.root = "/a/../b"; }},
        fault{"root is no path", [](options& o) { o.root = "/a\n"; }},
        fault{"root is longer", [](options& o) { o.root = "/" + std::string(1000, 'a'); }},
        fault{"form is neither", [](options& o) { o.form = static_cast<node_form>(2); }},
        fault{"acl is neither", [](options& o) { o.acl = static_cast<node_acl>(2); }},
        fault{"acl is creator", [](options& o) { o.acl = node_acl::creator; }},
        fault{"user contains a colon", [](options& o) { o.user = "a:b", o.password = "x"; }},
        fault{"neither password nor credentials", [](options& o) { o.user = "a"; }},
        fault{"neither user nor credentials", [](options& o) { o.password = "a"; }},
        fault{"tls.key_file belong together",
              [](options& o) { o.tls = tls_options{.certificate_file = "/none"}; }},
        fault{"/none/such", [](options& o) { o.tls = tls_options{.ca_file = "/none/such"}; }},
        fault{"session_timeout is 99 ms", [](options& o) { o.session_timeout = 99ms; }},
        fault{"session_timeout is -1 ms", [](options& o) { o.session_timeout = -1ms; }},
        fault{"connect_timeout is 0 ms", [](options& o) { o.connect_timeout = 0ms; }},
        fault{"command_timeout is 86400001 ms", [](options& o) { o.command_timeout = 24h + 1ms; }},
        fault{"backoff_min is 0 ms", [](options& o) { o.backoff_min = 0ms; }},
        fault{"backoff_min is longer", [](options& o) { o.backoff_min = 2s; }},
        fault{"requests_max is 0", [](options& o) { o.requests_max = 0; }},
        fault{"reply_bytes_max is 0", [](options& o) { o.reply_bytes_max = 0; }}));

TEST(ZookeeperOptions, ThatAreRightStayAsTheyAre) {
    options how{.servers = {{"a", 1}, {"a", 2}, {"b", 1}}};
    how.chroot = "/teams/ours";
    how.user = "app", how.password = "x", how.acl = node_acl::creator;
    how.session_timeout = 100ms;
    EXPECT_EQ(checked(how).servers.size(), 3u);
    how.names_are_paths = true;
    how.root = "";
    EXPECT_EQ(checked(how).chroot, "/teams/ours") << "the root is not used";
}

} // namespace
} // namespace holdfast::zookeeper
