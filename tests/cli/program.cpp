// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::cli_test {
namespace {

using namespace std::chrono_literals;

[[noreturn]] void fail(const char* what) {
    throw std::system_error{errno, std::system_category(), what};
}

struct pipe_ends {
    int read = -1;
    int write = -1;
};

pipe_ends make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        fail("pipe2");
    return {ends[0], ends[1]};
}

int open_pidfd(pid_t id) {
    const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, id, 0U));
    if (fd < 0)
        fail("pidfd_open");
    return fd;
}

/// Resets all signals, as in a program that a login shell starts, however the tests were started.
void reset_signals() {
    for (int number = 1; number < NSIG; ++number)
        ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Where programs under test find a private server, if they need one: never this user's real one.
/// A server that is still there ends when it sees that the folder is gone.
class runtime_folder {
public:
    runtime_folder() {
        std::string pattern = std::filesystem::temp_directory_path() / "holdfast-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr)
            fail("mkdtemp");
        path_ = pattern;
    }
    ~runtime_folder() { std::filesystem::remove_all(path_); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// Makes pidfd_open() fail, as in a container whose seccomp profile is too old to allow it.
void forbid_pidfd() {
    std::array<sock_filter, 4> rules{{
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_pidfd_open},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    }};
    const sock_fprog whole{static_cast<unsigned short>(rules.size()), rules.data()};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole);
}

void set_environment(const std::string& url, const std::string& runtime) {
    ::setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
    ::setenv("HOLDFAST_SERVER_LINGER", "0", 1);
    if (url.empty())
        ::unsetenv("HOLDFAST_URL");
    else
        ::setenv("HOLDFAST_URL", url.c_str(), 1);
}

/// False: the end of the file.
bool read_some(int fd, std::string& into) {
    std::array<char, 4096> chunk;
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got > 0)
        into.append(chunk.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && errno == EAGAIN);
}

} // namespace

std::string program_path() {
    const char* const told = std::getenv("HOLDFAST_PROGRAM");
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::string path = told != nullptr ? told : here.parent_path() / "cli" / "holdfast";
    if (!std::filesystem::exists(path))
        throw std::runtime_error{"there is no program to test: " + path};
    return path;
}

program::program(std::vector<std::string> arguments, std::string url)
    : program{[&] {
                  arguments.insert(arguments.begin(), program_path());
                  return exactly{std::move(arguments)};
              }(),
              std::move(url)} {}

program::program(exactly what, std::string url) {
    static const runtime_folder runtime;
    const pipe_ends in = make_pipe();
    const pipe_ends out = make_pipe();
    const pipe_ends err = make_pipe();
    std::vector<char*> words;
    for (std::string& word : what.command)
        words.push_back(word.data());
    words.push_back(nullptr);

    id_ = ::fork();
    if (id_ < 0)
        fail("fork");
    if (id_ == 0) {
        ::dup2(in.read, 0);
        ::dup2(out.write, 1);
        ::dup2(err.write, 2);
        ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC); // ctest and its callers leave some open
        if (what.passed_descriptor >= 0)
            ::dup2(what.passed_descriptor, 7);
        reset_signals();
        ::setsid(); // whoever started the tests may have a terminal, and they behave the same
        set_environment(url, runtime.path());
        if (what.without_pidfd)
            forbid_pidfd();
        ::execvp(words.front(), words.data());
        ::_exit(99);
    }
    ::close(in.read);
    ::close(out.write);
    ::close(err.write);
    in_ = in.write;
    out_ = out.read;
    err_ = err.read;
    ::fcntl(out_, F_SETFL, O_NONBLOCK);
    ::fcntl(err_, F_SETFL, O_NONBLOCK);
}

program::~program() {
    if (id_ > 0) {
        ::kill(id_, SIGKILL);
        ::waitpid(id_, nullptr, 0);
    }
    for (const int fd : {in_, out_, err_})
        if (fd >= 0)
            ::close(fd);
}

void program::close_stdin() {
    ::close(std::exchange(in_, -1));
}

void program::close_stdout() {
    ::close(std::exchange(out_, -1));
}

void program::close_stderr() {
    ::close(std::exchange(err_, -1));
}

void program::signal(int number) {
    ::kill(id_, number);
}

void program::read_more(duration timeout) {
    std::array<pollfd, 2> both{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    ::poll(both.data(), both.size(), static_cast<int>(timeout.count()));
    if (both[0].revents != 0 && !read_some(out_, result_.out))
        ::close(std::exchange(out_, -1));
    if (both[1].revents != 0 && !read_some(err_, result_.err))
        ::close(std::exchange(err_, -1));
}

/// Reads what is in the pipes now, although a descendant may still have them open.
void program::drain() {
    std::size_t before = 0;
    do {
        before = result_.out.size() + result_.err.size();
        read_more(0ms);
    } while (result_.out.size() + result_.err.size() > before);
}

std::string program::line() {
    const time_point give_up_at = boot_clock::now() + far_too_long;
    for (;;) {
        if (const std::size_t end = result_.out.find('\n'); end != std::string::npos) {
            std::string first = result_.out.substr(0, end);
            result_.out.erase(0, end + 1);
            return first;
        }
        if (out_ < 0 || boot_clock::now() > give_up_at)
            throw too_late{"no further line; stderr: " + result_.err};
        read_more(100ms);
    }
}

bool program::said(const std::string& what) {
    drain();
    return result_.err.find(what) != std::string::npos;
}

ended program::end() {
    const int pidfd = open_pidfd(id_);
    const time_point give_up_at = boot_clock::now() + far_too_long;
    pollfd gone{pidfd, POLLIN, 0};
    while (::poll(&gone, 1, 0) == 0) {
        if (boot_clock::now() > give_up_at)
            throw too_late{"it does not end; stderr: " + result_.err};
        read_more(5ms);
    }
    ::close(pidfd);
    drain();

    int how = 0;
    ::waitpid(std::exchange(id_, -1), &how, 0);
    result_.by_signal = WIFSIGNALED(how);
    result_.status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
    return result_;
}

ended run(std::vector<std::string> arguments, std::string url) {
    return program{std::move(arguments), std::move(url)}.end();
}

ended run_when_reached(const std::vector<std::string>& arguments, const std::string& url) {
    constexpr int unavailable = 69;
    ended told;
    const bool reached = eventually([&] {
        told = run(arguments, url);
        return told.status != unavailable;
    });
    if (!reached)
        throw too_late{"nobody can be reached; stderr: " + told.err};
    return told;
}

namespace {

struct process_stat {
    std::string id, name, state; // no program of these tests has a space in its name
    pid_t parent = 0;
};

process_stat read_stat(pid_t id) {
    std::ifstream file{"/proc/" + std::to_string(id) + "/stat"};
    process_stat found;
    file >> found.id >> found.name >> found.state >> found.parent;
    return found;
}

} // namespace

pid_t parent_of(pid_t id) {
    return read_stat(id).parent;
}

observed_process::observed_process(pid_t id)
    : id_{id}
    , descriptor_{open_pidfd(id)} {}

observed_process::~observed_process() {
    ::close(descriptor_);
}

bool observed_process::is_stopped() const {
    return read_stat(id_).state == "T";
}

void observed_process::kill() {
    ::kill(id_, SIGKILL);
}

bool observed_process::ended_within(duration timeout) {
    pollfd gone{descriptor_, POLLIN, 0};
    return ::poll(&gone, 1, static_cast<int>(timeout.count())) == 1;
}

} // namespace holdfast::cli_test
