// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace holdfast::mysql {

/// Guard that prepares this thread for TLS calls of libmariadb.
///
/// The thread gets no SIGPIPE from these calls: the signal is blocked, and a SIGPIPE that was
/// raised meanwhile is removed. OpenSSL writes with write(), which raises SIGPIPE when the peer is
/// gone. That would kill a program that does not ignore the signal.
///
/// The thread's OpenSSL error queue is empty before and after the calls. libmariadb does not clear
/// it. An error that other code left there would look like an error of libmariadb. The wait for an
/// answer would then end as a lost connection.
class tls_guard {
public:
    explicit tls_guard(bool needed) noexcept;
    tls_guard(const tls_guard&) = delete;
    ~tls_guard();

private:
    const bool needed_;
    bool was_pending_ = false; // a SIGPIPE was pending before; it is not ours to remove
    sigset_t before_{};
};

/// Clears the thread's OpenSSL error queue. The linked and the loaded libmariadb need different
/// code for this (linked.cpp, on_demand/).
void forget_tls_errors() noexcept;

} // namespace holdfast::mysql
