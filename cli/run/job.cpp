// SPDX-License-Identifier: Apache-2.0
#include "cli/run/job.hpp"

#include "cli/command_line.hpp"
#include "cli/run/child_process.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <system_error>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {

namespace {

/// Guard that blocks SIGTTOU. Without it, the kernel would stop a background process that changes
/// the terminal.
class without_sigttou {
public:
    without_sigttou() noexcept {
        ::sigemptyset(&asking_);
        ::sigaddset(&asking_, SIGTTOU);
        sigset_t before;
        ::sigprocmask(SIG_BLOCK, &asking_, &before);
        was_blocked_ = ::sigismember(&before, SIGTTOU) == 1;
    }
    without_sigttou(const without_sigttou&) = delete;
    ~without_sigttou() {
        if (!was_blocked_)
            ::sigprocmask(SIG_UNBLOCK, &asking_, nullptr);
    }

private:
    sigset_t asking_{};
    bool was_blocked_ = false;
};

} // namespace

std::optional<controlling_terminal> controlling_terminal::open() {
    const int fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return std::nullopt;
    return controlling_terminal{descriptor{fd}};
}

pid_t controlling_terminal::foreground() const noexcept {
    return ::tcgetpgrp(device_.get());
}

void controlling_terminal::give_to(pid_t group) const noexcept {
    const without_sigttou asking;
    ::tcsetpgrp(device_.get(), group);
}

std::optional<termios> controlling_terminal::settings() const noexcept {
    termios now{};
    if (::tcgetattr(device_.get(), &now) != 0)
        return std::nullopt;
    return now;
}

void controlling_terminal::restore(const termios& before) const noexcept {
    const without_sigttou asking;
    // Use TCSANOW, which does not wait until the output is written, because the user may have
    // stopped the output with Ctrl-S.
    ::tcsetattr(device_.get(), TCSANOW, &before);
}

bool controlling_terminal::is_stdin() noexcept {
    return ::tcgetpgrp(STDIN_FILENO) >= 0; // succeeds only for the terminal of this session
}

namespace {

/// Returns RTMIN+3. Container runtimes send this signal to a systemd in the container to stop it.
int halt_of_systemd() {
    return SIGRTMIN + 3;
}

bool can_be_taken(int signal, const inheritance& inherited) {
    constexpr std::array<int, 4> never{SIGKILL, SIGSTOP, SIGTTIN, SIGTTOU};
    return std::ranges::find(never, signal) == never.end() && !inherited.ignores(signal);
}

} // namespace

// The C library uses a few signals internally (glibc: 32 and 33), and its functions refuse to block
// them. But other processes can send them too, and they would end this process. So this function
// fills the set itself and calls the kernel.
sigset_t block_signals_of_job(const inheritance& inherited) {
    std::uint64_t bits = 0; // as the kernel reads them: bit 0 is signal 1
    for (int signal = 1; signal <= SIGRTMAX; ++signal)
        if (can_be_taken(signal, inherited))
            bits |= std::uint64_t{1} << (signal - 1);
    ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &bits, nullptr, sizeof bits);
    sigset_t taken;
    ::sigemptyset(&taken);
    std::memcpy(&taken, &bits, sizeof bits);
    if (!inherited.ignores(SIGPIPE))
        ::signal(SIGPIPE, SIG_DFL); // the kernel drops ignored signals
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

namespace {

int block_and_open(const inheritance& inherited) {
    const sigset_t ours = block_signals_of_job(inherited);
    const int fd = ::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        throw std::system_error{errno, std::system_category(), "signalfd"};
    return fd;
}

} // namespace

signal_inbox::signal_inbox(asio::io_context& loop, const inheritance& inherited)
    : inherited_{inherited}
    , descriptor_{loop, block_and_open(inherited)} {}

asio::awaitable<void> signal_inbox::arrival() {
    co_await descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
}

std::optional<int> signal_inbox::take() {
    signalfd_siginfo one{};
    while (::read(descriptor_.native_handle(), &one, sizeof one) == sizeof one) {
        const auto signal = static_cast<int>(one.ssi_signo);
        if (!is_own_pipe(signal, static_cast<pid_t>(one.ssi_pid)))
            return signal;
    }
    return std::nullopt;
}

void signal_inbox::let_through() {
    ::signal(SIGPIPE, SIG_IGN); // a write to a closed pipe must not end this process
    ::pthread_sigmask(SIG_SETMASK, &inherited_.mask(), nullptr);
}

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

/// The front process: the process for which the shell waits. The front process only passes signals
/// on to the worker. The worker is the process that has the lock.
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

    /// Ends the shell's whole job (a script, other commands of a pipe) by the signal. The terminal
    /// has sent the signal only to the command's group.
    void end_job(int signal) const {
        if (::sigismember(&had_, signal) == 0)
            ::kill(0, signal);
        die_of(signal);
    }

    /// Stops the whole job, as the terminal does at Ctrl-Z. Without a shell that could continue the
    /// job, the kernel ignores the signal.
    void stop() const {
        const sigset_t stopping = set_of({SIGTSTP});
        ::kill(0, SIGTSTP);
        ::sigprocmask(SIG_UNBLOCK, &stopping, nullptr); // this process stops here
        ::sigprocmask(SIG_BLOCK, &stopping, nullptr);
        ::kill(worker_, SIGCONT);
    }

    const pid_t worker_;
    const sigset_t heard_;
    sigset_t had_; ///< signals that this process got, and with it the whole job
};

[[noreturn]] void be_worker(job behind, const std::function<int(const job*)>& work) {
    // If the front process is killed, the kernel sends SIGTERM to this worker, which then ends the
    // job; see `front_is_gone`.
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
    // Block the signals before fork, so that none is lost.
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
