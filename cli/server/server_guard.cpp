// SPDX-License-Identifier: Apache-2.0
#include "cli/server/server_guard.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace cli {
namespace {

/// Returns the FNV-1a hash of the text. The path itself may be too long for the socket's name.
std::uint64_t digest_of(const std::string& text) {
    std::uint64_t digest = 14'695'981'039'346'656'037U;
    for (const char each : text)
        digest = (digest ^ static_cast<unsigned char>(each)) * 1'099'511'628'211U;
    return digest;
}

struct address {
    sockaddr_un name{};
    socklen_t size = 0;

    explicit address(const std::string& folder) {
        struct stat mounts {};
        (void)::stat("/proc/self/ns/mnt", &mounts); // 0 if there is no such file
        const std::string text = "holdfast-" + std::to_string(::geteuid()) + "-" +
                                 std::to_string(mounts.st_ino) + "-" +
                                 std::to_string(digest_of(folder));
        name.sun_family = AF_UNIX;
        // begins with a zero byte, so the name is not a file
        std::memcpy(name.sun_path + 1, text.data(), text.size());
        size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    }

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

} // namespace

pid_t server_guard::holder(const std::string& folder) {
    const address at{folder};
    const cli::descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (::connect(socket.get(), at.get(), at.size) != 0)
        // The queue of connections is full, so the process is stopped.
        return errno == EAGAIN ? -1 : 0;
    ucred peer{};
    socklen_t size = sizeof peer;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return peer.uid == ::geteuid() ? peer.pid : 0;
}

std::optional<server_guard> server_guard::make(const std::string& folder) {
    const address at{folder};
    server_guard made;
    cli::descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (::bind(socket.get(), at.get(), at.size) == 0) {
        ::listen(socket.get(), SOMAXCONN);
        made.socket_.emplace(std::move(socket));
    } else if (holder(folder) != 0) {
        return std::nullopt;
    }
    return made;
}

void server_guard::let_go() const noexcept {
    for (int fd = 0; (fd = ::accept4(descriptor(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0;)
        ::close(fd);
}

} // namespace cli
