// SPDX-License-Identifier: Apache-2.0
#include "mysql/handle.hpp"

#include "mysql/tls_guard.hpp"

#include <array>

#include <mysql.h>
#include <sys/socket.h>

namespace holdfast::mysql {

int handle::socket() const noexcept {
    return raw_ && raw_->net.pvio ? static_cast<int>(mysql_get_socket(raw_)) : -1;
}

bool handle::over_tls() const noexcept {
    return raw_ && mysql_get_ssl_cipher(raw_) != nullptr;
}

unsigned handle::error() const noexcept {
    return mysql_errno(raw_);
}

std::string handle::words() const {
    return mysql_error(raw_);
}

bool handle::in_transaction() const noexcept {
    return (raw_->server_status & SERVER_STATUS_IN_TRANS) != 0;
}

void handle::shut_down() noexcept {
    if (const int fd = socket(); fd >= 0)
        ::shutdown(fd, SHUT_RDWR);
}

/// Sends COM_QUIT without blocking. mysql_close() also sends it, but it could wait for space in the
/// socket's send buffer. Over TLS only the library can send COM_QUIT. This does not block, because
/// the socket is non-blocking and its buffer is empty.
void handle::say_goodbye() noexcept {
    if (!raw_)
        return;
    if (over_tls()) {
        const tls_guard quiet{true};
        mysql_close(std::exchange(raw_, nullptr));
        return;
    }
    constexpr std::array<unsigned char, 5> quit{1, 0, 0, 0, 1}; // COM_QUIT with its packet header
    if (const int fd = socket(); fd >= 0)
        (void)::send(fd, quit.data(), quit.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void handle::close() noexcept {
    if (!raw_)
        return;
    const tls_guard quiet{over_tls()};
    shut_down();
    mysql_close(std::exchange(raw_, nullptr));
}

} // namespace holdfast::mysql
