// SPDX-License-Identifier: Apache-2.0
#include "net/bare_socket.hpp"

#include "net/failure.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace holdfast::net {
namespace {

using file_watch = asio::posix::stream_descriptor;

error_code last_error() noexcept {
    return {errno, boost::system::system_category()};
}

[[noreturn]] void fail_unwatched(int socket) {
    const error_code why = last_error();
    ::close(socket);
    throw failure{errc::unreachable, "its socket cannot be waited for: " + why.message()};
}

int epoll_of(int socket) {
    const int made = ::epoll_create1(EPOLL_CLOEXEC);
    epoll_event arrivals{};
    arrivals.events = EPOLLIN;
    if (made >= 0 && ::epoll_ctl(made, EPOLL_CTL_ADD, socket, &arrivals) == 0)
        return made;
    if (made >= 0)
        ::close(made);
    fail_unwatched(socket);
}

/// Makes a system call, and repeats it if a signal interrupts it.
template <typename Call>
std::size_t at_once(error_code& failed, Call call) noexcept {
    failed.clear();
    for (;;) {
        const ssize_t size = call();
        if (size >= 0)
            return static_cast<std::size_t>(size);
        if (errno == EINTR)
            continue;
        failed = last_error();
        return 0;
    }
}

} // namespace

bare_socket::bare_socket(const asio::any_io_executor& executor, int socket)
    : number_{socket}
    , watcher_{executor, epoll_of(socket)} {}

bare_socket::~bare_socket() {
    error_code ignored;
    watcher_.close(ignored);
    ::close(number_);
}

std::size_t bare_socket::write_some(std::string_view what, error_code& failed) const noexcept {
    return at_once(failed, [&] {
        return ::send(number_, what.data(), what.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    });
}

std::size_t bare_socket::read_some(char* into, std::size_t size,
                                   error_code& failed) const noexcept {
    return at_once(failed, [&] { return ::recv(number_, into, size, MSG_DONTWAIT); });
}

asio::awaitable<void> bare_socket::readable() {
    error_code ignored; // the reader gets the error
    co_await watcher_.async_wait(file_watch::wait_read,
                                 asio::redirect_error(asio::use_awaitable, ignored));
    // The data arrived before look_away(true): waits for look_away(false) or for the shutdown.
    while (looks_away_ && !shut_)
        co_await wanted();
}

asio::awaitable<void> bare_socket::wanted() {
    auto begin = [this](auto handler) {
        asio::any_completion_handler<void()>{std::move(handler)}.swap(waiter_);
    };
    co_await asio::async_initiate<const asio::deferred_t, void()>(begin, asio::deferred);
}

void bare_socket::go_on() {
    asio::any_completion_handler<void()> taken;
    taken.swap(waiter_);
    if (taken)
        asio::post(watcher_.get_executor(), std::move(taken));
}

/// Waits until the socket can be written. This is needed only if the system does not accept all
/// data at once, which is rare.
asio::awaitable<void> bare_socket::writable() {
    const int another = ::fcntl(number_, F_DUPFD_CLOEXEC, 0);
    if (another < 0)
        throw failure{errc::unreachable, last_error().message()};
    file_watch here{watcher_.get_executor(), another};
    error_code ignored;
    co_await here.async_wait(file_watch::wait_write,
                             asio::redirect_error(asio::use_awaitable, ignored));
}

void bare_socket::look_away(bool away) {
    if (away == looks_away_)
        return;
    looks_away_ = away;
    epoll_event arrivals{};
    if (!away)
        arrivals.events = EPOLLIN;
    (void)::epoll_ctl(watcher_.native_handle(), EPOLL_CTL_MOD, number_, &arrivals);
    if (!away)
        go_on();
}

void bare_socket::shut_down() {
    shut_ = true;
    (void)::shutdown(number_, SHUT_RDWR);
    error_code ignored;
    watcher_.cancel(ignored);
    go_on();
}

} // namespace holdfast::net
