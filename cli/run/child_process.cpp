// SPDX-License-Identifier: Apache-2.0
#include "cli/run/child_process.hpp"

#include "cli/command_line.hpp"
#include "cli/descriptor.hpp"
#include "cli/run/coroutines.hpp"
#include "cli/run/job.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {
namespace {

bool ignored(int signal) {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// Opens /dev/null for each standard descriptor that is closed. If stdin stayed closed, for
/// example, the program's first socket would become descriptor 0.
void open_standard_descriptors() {
    for (int fd = ::open("/dev/null", O_RDWR); fd >= 0; fd = ::dup(fd)) {
        if (fd > STDERR_FILENO) {
            ::close(fd);
            return;
        }
    }
}

std::vector<int> list_descriptors() {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir("/proc/self/fd"), ::closedir};
    std::vector<int> found;
    if (!folder)
        return found;
    while (const dirent* const entry = ::readdir(folder.get())) {
        const std::string_view name{entry->d_name};
        int fd = -1;
        std::from_chars(name.data(), name.data() + name.size(), fd);
        if (fd >= 0 && fd != ::dirfd(folder.get()))
            found.push_back(fd);
    }
    std::ranges::sort(found);
    return found;
}

} // namespace

inheritance inheritance::take() {
    open_standard_descriptors();
    inheritance taken;
    taken.descriptors_ = list_descriptors();
    taken.sigpipe_ignored_ = ignored(SIGPIPE);
    ::sigprocmask(SIG_BLOCK, nullptr, &taken.mask_);
    ::signal(SIGPIPE, SIG_IGN); // writing a message to a closed pipe must not kill this process
    ::signal(SIGCHLD, SIG_DFL); // if SIGCHLD were ignored, the command's exit status would be lost
    return taken;
}

bool inheritance::ignores(int signal) const {
    return signal == SIGPIPE ? sigpipe_ignored_ : ignored(signal);
}

void inheritance::hand_on() const noexcept {
    if (!sigpipe_ignored_)
        ::signal(SIGPIPE, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
    if (descriptors_.empty())
        return; // all descriptors of this program should have close-on-exec
    // Set close-on-exec for all descriptors that this program itself has opened. Their numbers are
    // the gaps between the inherited descriptors. Do not close these descriptors now, because one
    // is the pipe that reports a failed exec.
    unsigned first = 0;
    for (const int fd : descriptors_) {
        if (static_cast<unsigned>(fd) > first)
            ::close_range(first, static_cast<unsigned>(fd) - 1, CLOSE_RANGE_CLOEXEC);
        first = static_cast<unsigned>(fd) + 1;
    }
    ::close_range(first, ~0U, CLOSE_RANGE_CLOEXEC);
}

namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error{errno, std::system_category(), what};
}

/// Data that the child process needs until exec. The parent prepares this data, because the child
/// may only make async-signal-safe calls: the child shares this process's memory, where another
/// thread may have locked any mutex, for example of malloc().
struct plan {
    const inheritance& inherited;
    std::vector<char*> command;
    std::vector<char*> environment;
    standard_descriptors standard;
    const controlling_terminal* foreground_of;
    int report; ///< pipe for the errno of a failed exec
    pid_t parent;
};

[[noreturn]] void become_command(const plan& how) noexcept {
    ::setpgid(0, 0);
    // From now on, the kernel sends SIGKILL to this child when the thread that created it ends. If
    // that thread has ended before prctl(), the child has another parent already, and no signal
    // comes.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != how.parent)
        ::_exit(signalled + SIGKILL);

    if (how.foreground_of != nullptr)
        how.foreground_of->give_to(::getpid()); // before the command can ask for the terminal
    ::dup2(how.standard.in, STDIN_FILENO);
    ::dup2(how.standard.out, STDOUT_FILENO);
    ::dup2(how.standard.err, STDERR_FILENO);
    how.inherited.hand_on();
    ::execvpe(how.command.front(), how.command.data(), how.environment.data());
    const int error = errno;
    [[maybe_unused]] const auto told = ::write(how.report, &error, sizeof error);
    ::_exit(not_found);
}

int child(void* how) noexcept {
    become_command(*static_cast<const plan*>(how));
}

/// Size of the child's stack. The C library may copy the argument list to the stack during exec, if
/// a script has no `#!` line.
constexpr std::size_t stack_size = 64UL * 1024;

/// Creates the child process like vfork(): the memory is shared, because a copy would take longer
/// than exec, and the calling thread pauses until the child has called exec. posix_spawn() works in
/// the same way, but cannot make some of the steps that `become_command` makes.
pid_t start_child(plan& how) {
    const std::size_t size = (stack_size + how.command.size() * sizeof(char*)) / 16 * 16;
    // Do not fill the stack with zeros, because only a few of its pages are used.
    const std::unique_ptr<char[]> stack{new char[size]};
    return ::clone(child, stack.get() + size, CLONE_VM | CLONE_VFORK | SIGCHLD, &how);
}

/// Waits for the exec of the child. Returns 0 if exec has succeeded, because exec closes the pipe.
/// If exec has failed, the child writes its errno to the pipe, and the function returns this errno.
int error_of_exec(int report) {
    int error = 0;
    ssize_t got = 0;
    do
        got = ::read(report, &error, sizeof error);
    while (got < 0 && errno == EINTR);
    return got == sizeof error ? error : 0;
}

char* mutable_text(const std::string& text) {
    return const_cast<char*>(text.c_str()); // the signature of exec has no const
}

std::string_view name_in(std::string_view variable) {
    return variable.substr(0, variable.find('='));
}

/// Returns this process's environment with the changes in `variables`.
std::vector<char*> environment_with(const std::vector<std::string>& variables) {
    std::vector<char*> all;
    all.reserve(variables.size());
    for (const std::string& each : variables)
        if (each.find('=') != each.npos)
            all.push_back(mutable_text(each));
    for (char** one = environ; *one != nullptr; ++one)
        if (std::ranges::find(variables, name_in(*one), name_in) == variables.end())
            all.push_back(*one);
    all.push_back(nullptr);
    return all;
}

pid_t start(const inheritance& inherited, const std::vector<std::string>& command,
            const child_settings& around) {
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0)
        fail("pipe");
    plan how{inherited,
             {},
             environment_with(around.variables),
             around.standard,
             around.foreground_of,
             report[1],
             ::getpid()};
    for (const std::string& word : command)
        how.command.push_back(mutable_text(word));
    how.command.push_back(nullptr);

    const pid_t id = start_child(how);
    const int start_error = errno;
    ::close(report[1]);
    const int error = id < 0 ? 0 : error_of_exec(report[0]);
    ::close(report[0]);
    if (id < 0) {
        errno = start_error;
        fail("clone");
    }
    if (error != 0) {
        ::waitpid(id, nullptr, 0);
        throw cannot_start{error};
    }
    return id;
}

/// Time between two checks whether the process has exited. This time is used only if there is no
/// pidfd.
constexpr std::chrono::milliseconds look_for_end_every{10};

/// Returns whether the process has exited, without reaping it.
bool has_exited(pid_t id) {
    siginfo_t how{};
    return ::waitid(P_PID, static_cast<id_t>(id), &how, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           how.si_pid != 0;
}

} // namespace

child_process::child_process(asio::io_context& loop, const inheritance& inherited,
                             const std::vector<std::string>& command, const child_settings& around)
    : id_{start(inherited, command, around)} {
    // The process id still belongs to this child: nobody has reaped it.
    if (const int fd = open_pidfd(id_); fd >= 0)
        ended_.emplace(loop, fd);
}

child_process::~child_process() {
    if (id_ < 0)
        return;
    signal(SIGKILL);
    ::waitpid(id_, nullptr, 0);
}

asio::awaitable<void> child_process::ended() {
    if (ended_) {
        co_await ended_->async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
        co_return;
    }
    while (!has_exited(id_))
        co_await pause(look_for_end_every);
}

void child_process::signal(int number) noexcept {
    if (id_ > 0)
        ::kill(-id_, number);
}

std::optional<int> child_process::stopped_by() noexcept {
    siginfo_t what{};
    if (id_ < 0 || ::waitid(P_PID, static_cast<id_t>(id_), &what, WSTOPPED | WNOHANG) != 0 ||
        what.si_pid == 0)
        return std::nullopt;
    return what.si_status;
}

int child_process::status() {
    int how = 0;
    if (::waitpid(id_, &how, 0) != id_)
        fail("waitpid");
    id_ = -1;
    return WIFSIGNALED(how) ? signalled + WTERMSIG(how) : WEXITSTATUS(how);
}

} // namespace cli
