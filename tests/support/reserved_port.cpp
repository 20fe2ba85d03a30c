// SPDX-License-Identifier: Apache-2.0
// Reserves ports by abstract unix sockets, which have a name and no file. Their names are shared by
// all users, exactly where the ports are shared. They end with the socket.
#include "support/reserved_port.hpp"

#include "support/servers.hpp"

#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace holdfast::support {
namespace {

constexpr std::uint16_t first_port = 10'000, last_port = 32'000;

bool has_bound(int socket, const void* address, std::size_t size) {
    return bind(socket, static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) == 0;
}

/// Returns the socket that reserves the port. Returns -1 if another test has reserved the port.
int marked(std::uint16_t port) {
    const std::string name = "holdfast-test-port-" + std::to_string(port);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const int mark = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (mark >= 0 && has_bound(mark, &address, offsetof(sockaddr_un, sun_path) + 1 + name.size()))
        return mark;
    close(mark);
    return -1;
}

/// Returns whether no program on this machine listens on the port.
bool is_unused(std::uint16_t port) {
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1; // do not count connections that were closed within the last minute
    setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const bool unused = has_bound(probe, &address, sizeof address);
    close(probe);
    return unused;
}

} // namespace

reserved_port::reserved_port() {
    thread_local std::minstd_rand draw{std::random_device{}()};
    std::uniform_int_distribution<std::uint16_t> any{first_port, last_port};
    for (int attempts = 1'000; attempts > 0; --attempts) {
        number_ = any(draw);
        mark_ = marked(number_);
        if (mark_ >= 0 && is_unused(number_))
            return;
        close(mark_);
    }
    throw server_unavailable{"no free port on 127.0.0.1"};
}

reserved_port::reserved_port(reserved_port&& from) noexcept
    : number_{from.number_}
    , mark_{std::exchange(from.mark_, -1)} {}

reserved_port::~reserved_port() {
    if (mark_ >= 0)
        close(mark_);
}

} // namespace holdfast::support
