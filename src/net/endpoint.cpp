// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.hpp"

#include "net/failure.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace holdfast::net {
namespace {

constexpr int probes = 3;

void set(stream_socket& socket, int level, int name, int value) {
    // Ignore an error of this call, because a connection also works without this option.
    (void)::setsockopt(socket.native_handle(), level, name, &value, sizeof value);
}

int whole_seconds(duration length) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(length).count();
    return static_cast<int>(std::max<std::int64_t>(seconds, 1));
}

/// Sets the kernel's timeouts so that the kernel detects a dead peer after twice the timeout of one
/// reply. The Redis command connection (`command_connection`) gives up after the same time.
void watch_over_peer(stream_socket& socket, duration timeout) {
    timeout = std::clamp(timeout, duration{500}, duration{std::chrono::minutes{30}});
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, whole_seconds(timeout));
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, whole_seconds(timeout / probes));
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, probes);
    set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(2 * timeout.count()));
}

} // namespace

error_code open_socket(stream_socket& socket, const stream_endpoint& peer, duration timeout) {
    const auto protocol = peer.protocol();
    const int file = ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                              protocol.protocol());
    if (file < 0)
        return {errno, boost::system::system_category()};
    error_code failed;
    socket.assign(protocol, file, failed);
    if (failed) {
        ::close(file);
        return failed;
    }
    socket.non_blocking(true, failed);
    if (protocol.family() != AF_UNIX)
        watch_over_peer(socket, timeout);
    return failed;
}

std::string address_of(const std::string& unix_socket, const std::string& host,
                       std::uint16_t port) {
    if (!unix_socket.empty())
        return "unix:" + unix_socket;
    const bool bare_v6 = host.find(':') != std::string::npos && !host.starts_with('[');
    return (bare_v6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

std::string address_of(const server_address& of) {
    return address_of({}, of.host, of.port);
}

std::string address_of(const stream_endpoint& of) {
    const int family = of.data()->sa_family;
    if (family != AF_INET && family != AF_INET6)
        return {};
    asio::ip::tcp::endpoint same;
    std::memcpy(same.data(), of.data(), std::min(of.size(), same.capacity()));
    return address_of({}, same.address().to_string(), same.port());
}

namespace {

credentials ask(const credential_provider& provider) {
    try {
        return provider();
    } catch (const std::exception& why) {
        throw failure{errc::unreachable,
                      std::string{"the credential provider failed: "} + why.what()};
    }
}

} // namespace

credentials credentials_now(const credentials& fixed, const credential_provider& provider) {
    credentials found = provider ? ask(provider) : credentials{};
    if (!fixed.user.empty())
        found.user = fixed.user;
    if (!fixed.password.empty())
        found.password = fixed.password;
    return found;
}

namespace {

/// Upper limit of each duration that `option_checks` accepts. No program needs a longer wait, and
/// the limit keeps the arithmetic with 64-bit milliseconds from overflowing.
constexpr duration longest_time = std::chrono::hours{24};
constexpr std::size_t servers_most = 64;

} // namespace

void option_checks::require(bool holds, std::string_view why_not) const {
    if (!holds)
        throw boost::system::system_error{make_error_code(errc::invalid_argument),
                                          std::string{whose_}.append(": ").append(why_not)};
}

void option_checks::time(duration value, std::string_view field, duration least) const {
    require(value >= least && value <= longest_time,
            std::string{field} + " is " + std::to_string(value.count()) + " ms; allowed are " +
                std::to_string(least.count()) + " ms to 1 day");
}

void option_checks::backoff(duration least, duration most) const {
    time(least, "backoff_min");
    time(most, "backoff_max");
    require(least <= most, "backoff_min is longer than backoff_max");
}

void option_checks::no_nul(std::string_view text, std::string_view field) const {
    require(text.find('\0') == text.npos, std::string{field} + " contains a NUL byte");
}

void option_checks::unix_socket(std::string_view path) const {
    no_nul(path, "unix_socket");
    require(path.size() < sizeof(sockaddr_un::sun_path),
            "unix_socket is longer than the 107 bytes that the system allows");
}

void option_checks::host(std::string_view name, std::string_view field) const {
    require(!name.empty(), std::string{field} + " is empty");
    no_nul(name, field);
}

std::string option_checks::repeated::numbers() const {
    return "number " + std::to_string(first) + " and " + std::to_string(again);
}

std::optional<option_checks::repeated> option_checks::servers(std::vector<server_address> all,
                                                              std::uint16_t usual_port,
                                                              std::string_view field) const {
    const std::string subject{field};
    require(!all.empty() && all.size() <= servers_most,
            subject + " has " + std::to_string(all.size()) + " entries; allowed are 1 to 64");
    const auto number_of = [&](auto one) {
        return static_cast<std::size_t>(one - all.begin()) + 1;
    };
    for (auto one = all.begin(); one != all.end(); ++one) {
        host(one->host, subject + ": a host");
        if (one->port == 0)
            one->port = usual_port;
        const auto first = std::find(all.begin(), one, *one);
        if (first != one)
            return repeated{*one, number_of(first), number_of(one)};
    }
    return std::nullopt;
}

void option_checks::certificate(const tls_options& tls, const std::string& field) const {
    require(tls.certificate_file.empty() == tls.key_file.empty(),
            field + ".certificate_file and " + field +
                ".key_file belong together, and one is missing");
}

void option_checks::files(const tls_options& tls) const {
    try {
        check_files(tls);
    } catch (const failure& why) {
        require(false, why.text());
    }
}

} // namespace holdfast::net
