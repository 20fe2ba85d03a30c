// SPDX-License-Identifier: Apache-2.0
#include "mysql/tls_guard.hpp"

#include <time.h>

namespace holdfast::mysql {
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

} // namespace holdfast::mysql
