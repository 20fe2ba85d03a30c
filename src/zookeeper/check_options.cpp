// SPDX-License-Identifier: Apache-2.0
#include "zookeeper/check_options.hpp"

#include "net/failure.hpp"
#include "net/tls_context.hpp"
#include "zookeeper/ensemble.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::zookeeper {
namespace {

constexpr duration time_longest = std::chrono::hours{24};
constexpr duration session_shortest{100};
constexpr std::size_t servers_most = 64;
/// What a certificate or a hello can carry at all.
constexpr std::size_t server_name_bytes_max = 253;
/// Names come behind it, and a server takes no more than a megabyte at once.
constexpr std::size_t path_bytes_max = 1000;

void require(bool holds, const std::string& why_not) {
    if (!holds)
        throw boost::system::system_error{make_error_code(errc::invalid_argument),
                                          "zookeeper::options: " + why_not};
}

void check_time(duration value, const std::string& field, duration least = duration{1}) {
    require(value >= least && value <= time_longest,
            field + " is " + std::to_string(value.count()) + " ms; allowed are " +
                std::to_string(least.count()) + " ms to 1 day");
}

void check_servers(std::vector<server_address> all) {
    require(!all.empty() && all.size() <= servers_most,
            "servers has " + std::to_string(all.size()) + " entries; allowed are 1 to 64");
    for (auto one = all.begin(); one != all.end(); ++one) {
        require(!one->host.empty(), "servers: a host is empty");
        require(one->host.find('\0') == std::string::npos, "servers: a host contains a NUL byte");
        if (one->port == 0)
            one->port = usual_port;
        require(std::find(all.begin(), one, *one) == one,
                "servers has " + one->host + ":" + std::to_string(one->port) + " twice");
    }
}

bool is_step(std::string_view name) {
    const bool has_control =
        std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; });
    return !name.empty() && name != "." && name != ".." && !has_control;
}

/// As servers want it: they refuse each request with another one.
void check_path(std::string_view path, const std::string& field) {
    require(path.size() <= path_bytes_max,
            field + " is longer than " + std::to_string(path_bytes_max) + " bytes");
    bool well = path.starts_with('/') && path.size() > 1;
    while (well && !path.empty()) {
        path.remove_prefix(1);
        const std::string_view step = path.substr(0, path.find('/'));
        well = is_step(step);
        path.remove_prefix(step.size());
    }
    require(well, field + " is no path of a node; it begins with '/', does not end with it, and no "
                          "part of it is empty, '.', '..', or contains a control character");
}

void check_tls(const tls_options& tls) {
    require(tls.certificate_file.empty() == tls.key_file.empty(),
            "tls.certificate_file and tls.key_file belong together, and one is missing");
    require(tls.server_name.size() <= server_name_bytes_max,
            "tls.server_name is longer than any can be");
    require(tls.server_name.find('\0') == std::string::npos, "tls.server_name contains a NUL byte");
    try {
        net::check_files(tls);
    } catch (const net::failure& why) {
        require(false, why.text());
    }
}

void check_login(const options& how) {
    require(how.user.find(':') == std::string::npos,
            "user contains a colon, which separates it from the password");
    require(how.user.empty() || !how.password.empty() || how.credentials,
            "user is given, and neither password nor credentials");
    require(how.password.empty() || !how.user.empty() || how.credentials,
            "password is given, and neither user nor credentials");
    const bool logs_in = !how.user.empty() || how.credentials != nullptr;
    const bool has_certificate = how.tls && !how.tls->certificate_file.empty();
    require(how.acl != node_acl::creator || logs_in || has_certificate,
            "acl is creator, and there is neither a user nor a certificate to be known by");
}

void check(const options& how) {
    check_servers(how.servers);
    if (!how.chroot.empty())
        check_path(how.chroot, "chroot");
    if (!how.names_are_paths)
        check_path(how.root, "root");
    require(how.form <= node_form::kazoo, "form is neither curator nor kazoo");
    require(how.acl <= node_acl::creator, "acl is neither open nor creator");
    if (how.tls)
        check_tls(*how.tls);
    check_login(how);
    if (how.session_timeout != duration::zero())
        check_time(how.session_timeout, "session_timeout", session_shortest);
    check_time(how.connect_timeout, "connect_timeout");
    check_time(how.command_timeout, "command_timeout");
    check_time(how.backoff_min, "backoff_min");
    check_time(how.backoff_max, "backoff_max");
    require(how.backoff_min <= how.backoff_max, "backoff_min is longer than backoff_max");
    require(how.requests_max > 0, "requests_max is 0");
    require(how.reply_bytes_max > 0, "reply_bytes_max is 0");
}

} // namespace

options checked(options how) {
    check(how);
    return how;
}

} // namespace holdfast::zookeeper
