// SPDX-License-Identifier: Apache-2.0
// Starts the supervisor, a process that outlives this process. It has its own session, and no
// `holdfast` process is its parent. It inherits only the lock, and a pipe on which it reports the
// result.
#include "cli/server/private_server.hpp"
#include "cli/terminal/say.hpp"

#include <holdfast/time.hpp>

#include <algorithm>
#include <array>
#include <csignal>

#include <linux/close_range.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {
namespace {

/// Limit of open files, if the system allows it: a few connections for each program.
constexpr rlim_t server_files_max = 4096;

/// Raises the limits as far as the system allows. The server is for all programs of this user. So
/// it must not inherit the limits of the process that starts it, for example `ulimit -t`.
void raise_limits() noexcept {
    for (const auto resource : {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_RSS, RLIMIT_AS,
                                RLIMIT_NPROC, RLIMIT_LOCKS, RLIMIT_NOFILE}) {
        rlimit now{};
        const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
        const rlimit many{server_files_max, server_files_max};
        if (::getrlimit(resource, &now) != 0 || ::setrlimit(resource, &none) == 0)
            continue;
        if (resource == RLIMIT_NOFILE && now.rlim_max < server_files_max &&
            ::setrlimit(resource, &many) == 0)
            continue;
        now.rlim_cur = now.rlim_max;
        ::setrlimit(resource, &now);
    }
}

/// Becomes the supervisor. It runs between fork and exec, so it makes only async-signal-safe calls.
[[noreturn]] void become_supervisor(int lock, int report, int nothing) noexcept {
    // The supervisor must not get signals from a terminal. It must also close inherited pipes,
    // because a program that reads the output of this process would otherwise wait for their end.
    ::dup2(lock, STDIN_FILENO);
    ::dup2(report, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    ::close_range(STDERR_FILENO + 1, ~0U, 0);
    ::umask(S_IRWXG | S_IRWXO);
    [[maybe_unused]] const int moved = ::chdir("/");
    for (int number = 1; number < NSIG; ++number)
        ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    raise_limits();

    char name[] = "holdfast";
    char verb[] = "private-server";
    std::array<char*, 3> words{name, verb, nullptr};
    ::execv("/proc/self/exe", words.data());
    ::_exit(1);
}

/// Reads until the other end closes the pipe, or until the timeout.
std::string read_all(const descriptor& from, std::chrono::milliseconds patience) {
    const auto give_up_at = holdfast::boot_clock::now() + patience;
    std::string all;
    for (;;) {
        pollfd readable{from.get(), POLLIN, 0};
        const auto left = std::max(give_up_at - holdfast::boot_clock::now(), holdfast::duration{});
        if (::poll(&readable, 1, static_cast<int>(left.count())) == 0)
            return "the private server's supervisor does not start";
        std::array<char, 1024> chunk;
        const ssize_t got = ::read(from.get(), chunk.data(), chunk.size());
        if (got > 0)
            all.append(chunk.data(), static_cast<std::size_t>(got));
        else if (got == 0 || errno != EINTR)
            return all;
    }
}

} // namespace

void start_supervisor(const private_folder& home, const descriptor& lock) {
    pipe_ends report = make_pipe();
    const descriptor nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    const pid_t between = ::fork();
    if (between == 0) {
        ::setsid();
        const pid_t supervisor = ::fork(); // its parent ends at once
        if (supervisor == 0)
            become_supervisor(lock.get(), report.write.get(), nothing.get());
        ::_exit(supervisor < 0 ? 1 : 0);
    }
    if (between < 0)
        throw std::system_error{errno, std::system_category(), "fork"};
    ::waitpid(between, nullptr, 0);
    ::close(report.write.release());

    const std::string told = read_all(report.read, 2 * server_start_patience);
    if (told != supervisor_is_ready && told != another_was_first)
        throw no_server{told.empty() ? "the private server in " + printable(home.path()) +
                                           " could not be started: its supervisor ended"
                                     : told};
}

} // namespace cli
