// SPDX-License-Identifier: Apache-2.0
#include "runtime/process.hpp"

#include <array>
#include <climits>
#include <utility>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace holdfast::runtime {

self this_process() {
    std::array<char, HOST_NAME_MAX + 1> host{};
    if (::gethostname(host.data(), HOST_NAME_MAX) != 0)
        host.front() = '\0';
    return {host.data(), ::getpid(), program_invocation_short_name};
}

namespace {

/// Guard that blocks all signals of the calling thread. A thread that is started while this object
/// exists inherits the blocked signals.
class signals_blocked {
public:
    signals_blocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    signals_blocked(const signals_blocked&) = delete;

private:
    sigset_t before_;
};

} // namespace

std::thread start_thread(asio::any_completion_handler<void()> work) {
    const signals_blocked while_starting;
    return std::thread{[work = std::move(work)]() mutable {
        pthread_setname_np(pthread_self(), "holdfast");
        std::move(work)();
    }};
}

} // namespace holdfast::runtime
