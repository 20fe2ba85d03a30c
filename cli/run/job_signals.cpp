// SPDX-License-Identifier: Apache-2.0
#include "cli/run/job_signals.hpp"

#include "cli/run/inheritance.hpp"

#include <algorithm>
#include <array>

#include <unistd.h>

namespace cli {
namespace {

/// Returns the signal that tells systemd in a container to stop.
int halt_of_systemd() {
    return SIGRTMIN + 3;
}

bool can_be_taken(int signal, const inheritance& inherited) {
    constexpr std::array<int, 4> never{SIGKILL, SIGSTOP, SIGTTIN, SIGTTOU};
    return std::ranges::find(never, signal) == never.end() && !inherited.ignores(signal);
}

} // namespace

sigset_t block_signals_of_job(const inheritance& inherited) {
    sigset_t taken;
    ::sigemptyset(&taken);
    for (int signal = 1; signal <= SIGRTMAX; ++signal)
        if (can_be_taken(signal, inherited))
            ::sigaddset(&taken, signal); // fails for signals that the C library itself uses
    ::pthread_sigmask(SIG_BLOCK, &taken, nullptr);
    if (!inherited.ignores(SIGPIPE))
        ::signal(SIGPIPE, SIG_DFL); // an ignored signal would be dropped before it can be read
    return taken;
}

bool is_own_pipe(int signal, pid_t sender) {
    return signal == SIGPIPE && sender == ::getpid();
}

bool asks_to_end(int signal, bool on_terminal) {
    constexpr std::array<int, 5> always{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPWR};
    return std::ranges::find(always, signal) != always.end() || signal == halt_of_systemd() ||
           (signal == SIGWINCH && !on_terminal);
}

bool ends_wait(int signal, bool on_terminal) {
    constexpr std::array<int, 5> harmless{SIGCHLD, SIGCONT, SIGTSTP, SIGURG, SIGWINCH};
    return asks_to_end(signal, on_terminal) ||
           std::ranges::find(harmless, signal) == harmless.end();
}

} // namespace cli
