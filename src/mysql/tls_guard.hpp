// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace holdfast::mysql {

/// Guard that prepares this thread for TLS calls of libmariadb.
///
/// It blocks SIGPIPE, and removes a SIGPIPE that the calls raised. OpenSSL writes with write(),
/// which raises SIGPIPE if the peer has closed the connection. The signal would kill a program that
/// does not ignore it.
///
/// It empties the thread's OpenSSL error queue before and after the calls, because libmariadb does
/// not. An error of other code in the queue would look like an error of libmariadb. The wait for an
/// answer would then end as if the connection were lost.
class tls_guard {
public:
    explicit tls_guard(bool needed) noexcept;
    tls_guard(const tls_guard&) = delete;
    ~tls_guard();

private:
    const bool needed_;
    // a SIGPIPE was pending before the calls, so the guard must not remove it
    bool was_pending_ = false;
    sigset_t before_{};
};

/// Clears the thread's OpenSSL error queue. There are two implementations: for the linked
/// libmariadb (linked.cpp) and for the loaded libmariadb (on_demand/).
void forget_tls_errors() noexcept;

} // namespace holdfast::mysql
