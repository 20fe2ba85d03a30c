// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/check_options.hpp"

#include "net/option_checks.hpp"
#include "zookeeper/ensemble.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {
namespace {

constexpr net::option_checks check{"zookeeper::options"};

constexpr duration session_shortest{100};
/// Maximum length of the chroot and of the root, in bytes. A path continues with node names, and a
/// server accepts at most a megabyte in one request.
constexpr std::size_t path_bytes_max = 1000;

void check_servers(const std::vector<server_address>& all) {
    if (const auto twice = check.servers(all, usual_port, "servers"))
        check.require(false, "servers has " + twice->which.host + ":" +
                                 std::to_string(twice->which.port) + " twice");
}

bool is_step(std::string_view name) {
    const bool has_control =
        std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; });
    return !name.empty() && name != "." && name != ".." && !has_control;
}

/// Checks a path by the servers' rules. A server would refuse every request that contains an
/// invalid path.
void check_path(std::string_view path, const std::string& field) {
    check.require(path.size() <= path_bytes_max,
                  field + " is longer than " + std::to_string(path_bytes_max) + " bytes");
    bool well = path.starts_with('/') && path.size() > 1;
    while (well && !path.empty()) {
        path.remove_prefix(1);
        const std::string_view step = path.substr(0, path.find('/'));
        well = is_step(step);
        path.remove_prefix(step.size());
    }
    check.require(well,
                  field + " is no path of a node; it begins with '/', does not end with it, and no "
                          "part of it is empty, '.', '..', or contains a control character");
}

void check_tls(const tls_options& tls) {
    check.certificate(tls, "tls");
    check.require(tls.server_name.size() <= net::server_name_bytes_max,
                  "tls.server_name is longer than any can be");
    check.no_nul(tls.server_name, "tls.server_name");
    check.files(tls);
}

void check_login(const options& how) {
    check.require(how.user.find(':') == std::string::npos,
                  "user contains a colon, which separates it from the password");
    check.require(how.user.empty() || !how.password.empty() || how.credentials,
                  "user is given, and neither password nor credentials");
    check.require(how.password.empty() || !how.user.empty() || how.credentials,
                  "password is given, and neither user nor credentials");
    const bool logs_in = !how.user.empty() || how.credentials != nullptr;
    const bool has_certificate = how.tls && !how.tls->certificate_file.empty();
    check.require(how.acl != node_acl::creator || logs_in || has_certificate,
                  "acl is creator, and there is neither a user nor a certificate to be known by");
}

} // namespace

options checked(options how) {
    check_servers(how.servers);
    if (!how.chroot.empty())
        check_path(how.chroot, "chroot");
    if (!how.names_are_paths)
        check_path(how.root, "root");
    check.require(how.form <= node_form::kazoo, "form is neither curator nor kazoo");
    check.require(how.acl <= node_acl::creator, "acl is neither open nor creator");
    if (how.tls)
        check_tls(*how.tls);
    check_login(how);
    if (how.session_timeout != duration::zero())
        check.time(how.session_timeout, "session_timeout", session_shortest);
    check.time(how.connect_timeout, "connect_timeout");
    check.time(how.command_timeout, "command_timeout");
    check.backoff(how.backoff_min, how.backoff_max);
    check.require(how.requests_max > 0, "requests_max is 0");
    check.require(how.reply_bytes_max > 0, "reply_bytes_max is 0");
    return how;
}

} // namespace holdfast::zookeeper
