// SPDX-License-Identifier: Apache-2.0
#include "net/socket.hpp"

#include <algorithm>
#include <cerrno>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::net {
namespace {

constexpr int probes = 3;

void set(stream_socket& socket, int level, int name, int value) {
    // If the system does not support the option, the option is skipped.
    (void)::setsockopt(socket.native_handle(), level, name, &value, sizeof value);
}

int whole_seconds(duration length) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(length).count();
    return static_cast<int>(std::max<std::int64_t>(seconds, 1));
}

/// Sets the kernel's timeouts so that a dead peer is detected after twice the timeout of one reply.
/// The Redis command connection (`mouth`) gives up after the same time.
void watch_over_peer(stream_socket& socket, duration patience) {
    patience = std::clamp(patience, duration{500}, duration{std::chrono::minutes{30}});
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, whole_seconds(patience));
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, whole_seconds(patience / probes));
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, probes);
    set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(2 * patience.count()));
}

} // namespace

error_code open_socket(stream_socket& socket, const stream_endpoint& peer, duration patience) {
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
        watch_over_peer(socket, patience);
    return failed;
}

} // namespace holdfast::net
