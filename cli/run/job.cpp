// SPDX-License-Identifier: Apache-2.0
#include "cli/run/job.hpp"

#include "cli/exit_status.hpp"
#include "cli/run/inheritance.hpp"
#include "cli/run/job_signals.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <iostream>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {
namespace {

sigset_t set_of(std::initializer_list<int> signals) {
    sigset_t all;
    ::sigemptyset(&all);
    for (const int each : signals)
        ::sigaddset(&all, each);
    return all;
}

/// Ends this process with the signal, even if the signal was blocked or ignored.
void die_of(int signal) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(signal, SIG_DFL);
    const sigset_t one = set_of({signal});
    ::raise(signal);
    ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
}

/// The front process. The shell waits for it, and it only passes signals on to the worker.
class front {
public:
    front(pid_t worker, const sigset_t& heard)
        : worker_{worker}
        , heard_{heard}
        , had_{set_of({})} {}

    int run() {
        for (;;) {
            siginfo_t what{};
            const int number = ::sigwaitinfo(&heard_, &what);
            if (is_own_pipe(number, what.si_pid))
                continue;
            if (number == SIGCHLD) {
                if (const std::optional<int> status = look_at_worker())
                    return *status;
            } else if (number == SIGTSTP && what.si_pid == worker_) {
                stop();
            } else if (number > 0) {
                ::sigaddset(&had_, number);
                ::kill(worker_, number);
            }
        }
    }

private:
    /// Returns the worker's exit status, or nothing if the worker still runs.
    std::optional<int> look_at_worker() {
        int how = 0;
        if (::waitpid(worker_, &how, WUNTRACED | WNOHANG) != worker_)
            return std::nullopt;
        if (WIFSTOPPED(how)) { // happens while the worker waits for the lock
            stop();
            return std::nullopt;
        }
        if (!WIFSIGNALED(how))
            return WEXITSTATUS(how);
        if (WTERMSIG(how) == SIGINT || WTERMSIG(how) == SIGQUIT)
            end_job(WTERMSIG(how));
        return signalled + WTERMSIG(how);
    }

    /// Sends the signal to the whole job of the shell (a script, the other parts of a pipe). The
    /// terminal has sent it only to the command's group.
    void end_job(int signal) const {
        if (::sigismember(&had_, signal) == 0)
            ::kill(0, signal);
        die_of(signal);
    }

    /// Stops the whole job, as the terminal does. The kernel does not stop the job if no shell
    /// could continue it.
    void stop() const {
        const sigset_t stopping = set_of({SIGTSTP});
        ::kill(0, SIGTSTP);
        ::sigprocmask(SIG_UNBLOCK, &stopping, nullptr); // this process stops here
        ::sigprocmask(SIG_BLOCK, &stopping, nullptr);
        ::kill(worker_, SIGCONT);
    }

    const pid_t worker_;
    const sigset_t heard_;
    sigset_t had_; ///< signals that were sent to this process, and so to the whole job
};

[[noreturn]] void be_worker(job behind, const std::function<int(const job*)>& work) {
    // If the front is killed, the worker still ends the job properly: see `front_is_gone`.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (behind.front_is_gone())
        ::_exit(signalled + SIGKILL); // the front has ended before the call of prctl()
    ::setpgid(0, 0);                  // the front gets the signals of keys and passes them on
    const sigset_t writing = set_of({SIGTTOU});
    ::sigprocmask(SIG_BLOCK, &writing, nullptr); // allows messages from a background process
    const int status = work(&behind);
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(status);
}

} // namespace

bool job::front_is_gone() const noexcept {
    return ::getppid() != front;
}

void job::stop() const noexcept {
    ::kill(front, SIGTSTP);
}

int work_behind_job(const inheritance& inherited, const std::function<int(const job*)>& work) {
    std::optional<controlling_terminal> device = controlling_terminal::open();
    if (!device)
        return work(nullptr);
    // The worker unblocks these signals itself.
    const sigset_t heard = block_signals_of_job(inherited);

    job behind{std::move(*device), ::getpid(), ::getpgrp()};
    const pid_t worker = ::fork();
    if (worker < 0)
        throw std::system_error{errno, std::system_category(), "fork"};
    if (worker == 0)
        be_worker(std::move(behind), work);
    return front{worker, heard}.run();
}

void end_as_interrupted(int signal) {
    if (signal == SIGINT || signal == SIGQUIT)
        die_of(signal);
}

} // namespace cli
