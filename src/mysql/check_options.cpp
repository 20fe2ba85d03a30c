// SPDX-License-Identifier: Apache-2.0
#include "mysql/check_options.hpp"

#include "mysql/dialler.hpp"
#include "net/failure.hpp"
#include "net/tls_context.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <sys/un.h>

namespace holdfast::mysql {
namespace {

void require(bool holds, std::string_view why_not) {
    if (!holds)
        throw boost::system::system_error{make_error_code(errc::invalid_argument),
                                          "mysql::options: " + std::string{why_not}};
}

constexpr duration shortest{1};
/// Timers count milliseconds on 64 bits; nobody waits for a server for longer than this.
constexpr duration longest = std::chrono::hours{24};
constexpr duration keep_alive_least = std::chrono::seconds{1};

constexpr std::size_t servers_most = 64;
/// What is beyond this is a slip of the pen: a server has a few hundred for all.
constexpr std::size_t connections_most = 1000;
/// The server's own limits.
constexpr std::size_t identifier_bytes_max = 64;
/// The names of the other tables begin with this one, so there must be room for their ends.
constexpr std::size_t table_bytes_max = 48;

bool has_nul(std::string_view text) {
    return text.find('\0') != text.npos;
}

void check_text(std::string_view text, std::string_view field) {
    require(!has_nul(text), std::string{field} + " contains a NUL byte");
}

void check_servers(std::vector<server_address> all) {
    require(!all.empty() && all.size() <= servers_most,
            "servers has " + std::to_string(all.size()) + " entries; allowed are 1 to 64");
    for (auto one = all.begin(); one != all.end(); ++one) {
        require(!one->host.empty(), "servers: a host is empty");
        check_text(one->host, "servers: a host");
        if (one->port == 0)
            one->port = usual_port;
        const auto first = std::find(all.begin(), one, *one);
        require(first == one, "servers has the same one twice, as number " +
                                  std::to_string(first - all.begin() + 1) + " and " +
                                  std::to_string(one - all.begin() + 1));
    }
}

void check_place(const options& how) {
    if (how.unix_socket.empty())
        return check_servers(how.servers);
    check_text(how.unix_socket, "unix_socket");
    require(how.unix_socket.size() < sizeof(sockaddr_un::sun_path),
            "unix_socket is longer than the 107 bytes that the system allows");
    require(!how.tls, "tls is for TCP, and unix_socket is given");
}

/// It goes into statements as it is, in backquotes.
void check_identifier(const std::string& name, std::string_view field, std::size_t most) {
    const std::string subject{field};
    require(!name.empty(), subject + " is empty");
    require(name.size() <= most, subject + " has " + std::to_string(name.size()) +
                                     " bytes; allowed are 1 to " + std::to_string(most));
    require(name.find_first_of(std::string_view{"\0`/\\.", 5}) == name.npos,
            subject + " contains a NUL byte, a backquote, a slash, a backslash or a dot");
    require(name.back() != ' ', subject + " ends with a blank");
}

/// libmariadb checks the certificate for the host that it connects to, and for nothing else.
void check_server_name(const tls_options& tls, const std::vector<server_address>& servers) {
    const bool same = std::ranges::all_of(servers, [&](const server_address& each) {
        return tls.server_name.empty() || each.host == tls.server_name;
    });
    require(same, "tls.server_name is \"" + tls.server_name +
                      "\", and libmariadb can check a certificate only for the host that it "
                      "connects to; leave it empty, and use a host name that is in the "
                      "certificate");
}

void check_tls(const options& how) {
    if (!how.tls)
        return;
    const tls_options& tls = *how.tls;
    require(tls.certificate_file.empty() == tls.key_file.empty(),
            "tls.certificate_file and tls.key_file belong together, and one is missing");
    check_server_name(tls, how.servers);
    try {
        net::check_files(tls);
    } catch (const net::failure& why) {
        require(false, why.text());
    }
}

void check_login(const options& how) {
    check_text(how.user, "user");
    require(!has_nul(how.password.reveal()), "password contains a NUL byte");
    check_text(how.server_key_file, "server_key_file");
    require(how.server_key_file.empty() || !how.tls,
            "server_key_file is for connections without TLS, and tls is given");
}

void check_time(duration value, std::string_view field, duration least = shortest) {
    require(value >= least && value <= longest,
            std::string{field} + " is " + std::to_string(value.count()) + " ms; allowed are " +
                std::to_string(least.count()) + " ms to 1 day");
}

void check_number(std::size_t value, std::string_view field, std::size_t least) {
    require(value >= least && value <= connections_most,
            std::string{field} + " is " + std::to_string(value) + "; allowed are " +
                std::to_string(least) + " to 1000");
}

} // namespace

options checked(options how) {
    check_place(how);
    check_identifier(how.schema, "schema", identifier_bytes_max);
    check_identifier(how.table, "table", table_bytes_max);
    check_login(how);
    check_tls(how);
    check_number(how.connections_max, "connections_max", 1);
    check_number(how.wait_connections_max, "wait_connections_max", 0);
    check_time(how.connect_timeout, "connect_timeout");
    check_time(how.command_timeout, "command_timeout");
    check_time(how.backoff_min, "backoff_min");
    check_time(how.backoff_max, "backoff_max");
    require(how.backoff_min <= how.backoff_max, "backoff_min is longer than backoff_max");
    check_time(how.keep_alive, "keep_alive", keep_alive_least);
    require(how.requests_max > 0, "requests_max is 0");
    return how;
}

} // namespace holdfast::mysql
