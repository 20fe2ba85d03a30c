// SPDX-License-Identifier: Apache-2.0
#include "mysql/own_socket.hpp"

#include "net/failure.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace holdfast::mysql {
namespace {

int another_of(int socket) {
    const int made = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (made < 0)
        throw net::failure{errc::unreachable, std::string{"no other number of its socket: "} +
                                                  std::generic_category().message(errno)};
    return made;
}

} // namespace

own_socket::own_socket(const asio::any_io_executor& executor, int theirs)
    : number_{another_of(theirs)}
    , waits_{executor} {}

error_code own_socket::introduce() {
    error_code failed;
    if (!asio_knows_it())
        waits_.assign(number_, failed);
    return failed;
}

void own_socket::leave_asio() noexcept {
    if (asio_knows_it())
        (void)waits_.release();
}

void own_socket::close() noexcept {
    leave_asio();
    if (is_open())
        ::close(std::exchange(number_, -1));
}

} // namespace holdfast::mysql
