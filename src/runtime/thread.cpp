// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread.hpp"

#include <utility>

#include <pthread.h>
#include <signal.h>

namespace holdfast::runtime {
namespace {

/// Blocks all signals of the calling thread while the object exists. A thread that is started in
/// this time inherits the blocked signals.
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
