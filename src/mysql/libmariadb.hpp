// SPDX-License-Identifier: Apache-2.0
// How this component uses libmariadb: the initialisation, guards for threads that call it, and the
// owner of libmariadb's object for a connection (`handle`). The library component links libmariadb
// (linked.cpp). The program loads libmariadb only when it gets a mysql:// URL (on_demand/), because
// most runs do not use MySQL, and libmariadb with its OpenSSL doubles the start time.
#pragma once

#include <string>
#include <utility>

#include <signal.h>

namespace holdfast::mysql {

/// Returns why libmariadb cannot be used, or an empty text if it can be used. Call this function
/// before the first use of libmariadb. Any thread may call it.
std::string objection_to_library();

/// Initialises libmariadb, once per process. Call this function before the first use of libmariadb.
/// libmariadb makes the whole process and its children ignore SIGPIPE; this function restores the
/// program's own setting. Any thread may call it.
void prepare_library();

/// Guard for a detached thread while it runs code of libmariadb. The exit of the process cleans up
/// OpenSSL, which libmariadb uses. So a static destructor waits up to three seconds for these
/// threads.
class inside_library {
public:
    inside_library() noexcept;
    inside_library(const inside_library&) = delete;
    ~inside_library();
};

/// Guard that prepares this thread for TLS calls of libmariadb.
///
/// The guard blocks SIGPIPE, and removes a SIGPIPE that the calls raised. This is needed because
/// OpenSSL writes with write(), which raises SIGPIPE if the peer has closed the connection. The
/// signal would kill a program that does not ignore it.
///
/// The guard also empties the thread's OpenSSL error queue before and after the calls, because
/// libmariadb does not. It would take an older error in the queue for its own error, and a wait for
/// an answer would end as if the connection were lost.
class tls_guard {
public:
    explicit tls_guard(bool needed) noexcept;
    tls_guard(const tls_guard&) = delete;
    ~tls_guard();

private:
    const bool needed_;
    // Whether a SIGPIPE was pending before the calls. Such a SIGPIPE must still be pending after
    // the guard has ended.
    bool was_pending_ = false;
    sigset_t before_{};
};

/// Clears the thread's OpenSSL error queue. There are two implementations: linked.cpp if the linker
/// links libmariadb, and on_demand/ if libmariadb is loaded at run time.
void forget_tls_errors() noexcept;

} // namespace holdfast::mysql

struct st_mysql;

namespace holdfast::mysql {

/// Owner of libmariadb's object for one connection, with its socket. The owner can always close the
/// connection without blocking.
class handle {
public:
    handle() = default;
    explicit handle(st_mysql* raw) noexcept
        : raw_{raw} {}
    handle(handle&& other) noexcept
        : raw_{std::exchange(other.raw_, nullptr)} {}
    handle& operator=(handle&& other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~handle() { close(); }

    explicit operator bool() const noexcept { return raw_ != nullptr; }
    st_mysql* get() const noexcept { return raw_; }
    int socket() const noexcept; ///< -1: no socket
    bool over_tls() const noexcept;

    unsigned error() const noexcept;
    std::string words() const;
    /// Returns whether a transaction is open, according to the last answer.
    bool in_transaction() const noexcept;

    /// Shuts down the socket in both directions. If a call is running on the connection, the call
    /// ends at once.
    void shut_down() noexcept;

    /// Sends the end of the connection to the server. Call this function last, and only while no
    /// statement is running.
    void say_goodbye() noexcept;

private:
    void close() noexcept;

    st_mysql* raw_ = nullptr;
};

} // namespace holdfast::mysql
