// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace holdfast::mysql {

/// While it lives, libmariadb may do TLS in this thread.
///
/// The thread gets no SIGPIPE from that: it is blocked, and one that was raised meanwhile is taken
/// away. OpenSSL writes with write(), which raises it when the peer is gone, and would kill a
/// program that has not chosen to ignore it.
///
/// And OpenSSL's list of errors, which each thread has, is empty before and after. libmariadb does
/// not empty it, and takes an error that somebody else left there for its own: an answer that is
/// only not there yet is then a lost connection.
class tls_guard {
public:
    explicit tls_guard(bool needed) noexcept;
    tls_guard(const tls_guard&) = delete;
    ~tls_guard();

private:
    const bool needed_;
    bool was_pending_ = false; // then it is somebody else's
    sigset_t before_{};
};

/// Where libmariadb is linked, and where it is loaded, this is had in different ways.
void forget_tls_errors() noexcept;

} // namespace holdfast::mysql
