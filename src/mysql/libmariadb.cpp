// SPDX-License-Identifier: Apache-2.0
#include "mysql/libmariadb.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <mysql.h>
#include <sys/socket.h>
#include <time.h>

namespace holdfast::mysql {
namespace {

/// Longest time for which the exit of the process waits for threads inside libmariadb. The lookup
/// of an address may take longer. It is safe not to wait for a lookup, because it uses no OpenSSL.
constexpr std::chrono::seconds timeout_at_exit{3};

/// Counter of the threads inside libmariadb. The counter is created after the initialisation of
/// OpenSSL. So its destructor runs before OpenSSL is cleaned up.
class threads_inside {
public:
    ~threads_inside() {
        std::unique_lock guard{mutex_};
        gone_.wait_for(guard, timeout_at_exit, [this] { return count_ == 0; });
    }
    void enter() {
        const std::scoped_lock guard{mutex_};
        ++count_;
    }
    void leave() {
        const std::scoped_lock guard{mutex_};
        if (--count_ == 0)
            gone_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable gone_;
    int count_ = 0;
};

threads_inside& threads() {
    static threads_inside all;
    return all;
}

void prepare_once() {
    struct sigaction before {};
    ::sigaction(SIGPIPE, nullptr, &before);
    mysql_server_init(0, nullptr, nullptr);
    ::sigaction(SIGPIPE, &before, nullptr);
    // Initialise OpenSSL now. Otherwise libmariadb would initialise it later, at the first TLS
    // connection.
    forget_tls_errors();
    threads();
}

} // namespace

void prepare_library() {
    static std::once_flag once;
    std::call_once(once, prepare_once);
}

inside_library::inside_library() noexcept {
    threads().enter();
}

inside_library::~inside_library() {
    threads().leave();
}

namespace {

sigset_t only_sigpipe() noexcept {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

bool sigpipe_is_pending() noexcept {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
}

} // namespace

tls_guard::tls_guard(bool needed) noexcept
    : needed_{needed} {
    if (!needed_)
        return;
    forget_tls_errors();
    was_pending_ = sigpipe_is_pending();
    const sigset_t set = only_sigpipe();
    pthread_sigmask(SIG_BLOCK, &set, &before_);
}

tls_guard::~tls_guard() {
    if (!needed_)
        return;
    if (!was_pending_ && sigpipe_is_pending()) {
        const sigset_t set = only_sigpipe();
        const timespec at_once{};
        sigtimedwait(&set, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    forget_tls_errors();
}

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

/// Sends COM_QUIT without blocking. Without TLS, mysql_close() is not used for this, because it may
/// block until the socket's send buffer has space. Over TLS, only libmariadb can send COM_QUIT. Its
/// call does not block, because the socket is non-blocking and its send buffer is empty.
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
