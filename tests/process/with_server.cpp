// SPDX-License-Identifier: Apache-2.0
#include "process/with_server.hpp"

#include <array>
#include <cerrno>
#include <map>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::process {
namespace {

constexpr const char* story_option = "--story";

std::map<std::string, story, std::less<>>& stories() {
    static std::map<std::string, story, std::less<>> all;
    return all;
}

[[noreturn]] void fail(const char* what) {
    throw std::system_error{errno, std::generic_category(), what};
}

std::array<int, 2> new_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        fail("pipe2");
    return ends;
}

/// Whether there is something to read, or the other end is closed, before it takes far too long.
bool comes(int file) {
    pollfd what{file, POLLIN, 0};
    constexpr std::chrono::milliseconds limit = support::far_too_long;
    for (;;) {
        const int ready = ::poll(&what, 1, static_cast<int>(limit.count()));
        if (ready >= 0 || errno != EINTR)
            return ready > 0;
    }
}

std::string all_from(int file) {
    std::string text;
    std::array<char, 4096> bytes{};
    while (comes(file)) {
        const ssize_t count = ::read(file, bytes.data(), bytes.size());
        if (count <= 0)
            return text;
        text.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return text + "it says nothing for far too long\n";
}

/// Its exit status once it has ended; kills it if that takes far too long.
int reaped(pid_t pid) {
    const auto file = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)); // has close-on-exec
    if (file < 0)
        fail("pidfd_open");
    const bool ended = comes(file);
    ::close(file);
    if (!ended)
        ::kill(pid, SIGKILL);
    int status = 0;
    if (::waitpid(pid, &status, 0) != pid)
        fail("waitpid");
    if (!ended)
        throw std::runtime_error{"a child process does not end"};
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

pid_t spawned(char* const* arguments, int in, int out) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    pid_t pid = -1;
    errno = ::posix_spawn(&pid, arguments[0], &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    return pid;
}

[[noreturn]] void become(char* const* arguments, int in, int out) {
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::execv(arguments[0], arguments);
    ::_exit(127);
}

pid_t started(child::start how, const std::vector<char*>& arguments, int in, int out) {
    if (how == child::start::posix_spawn)
        return spawned(arguments.data(), in, out);
    const pid_t pid = how == child::start::fork ? ::fork() : ::vfork();
    if (pid == 0)
        become(arguments.data(), in, out);
    return pid;
}

} // namespace

named_story::named_story(const char* name, story what) {
    stories().emplace(name, what);
}

bool plays_a_story(int argc, char** argv, int& exit_status) {
    if (argc < 3 || std::string_view{argv[1]} != story_option)
        return false;
    ::setsid(); // so that the kernel does not continue a stopped child; see server_process.cpp
    exit_status = stories().at(argv[2])({argv + 3, argv + argc});
    return true;
}

child::child(const std::string& story_name, const setting& how) {
    std::vector<std::string> words{"/proc/self/exe", story_option, story_name};
    words.insert(words.end(), how.arguments.begin(), how.arguments.end());
    const std::vector<char*> arguments = pointers_to(words);
    const std::array<int, 2> to_child = new_pipe(), from_child = new_pipe();
    in_ = to_child[1];
    out_ = from_child[0];
    pid_ = started(how.how, arguments, to_child[0], from_child[1]);
    ::close(to_child[0]);
    ::close(from_child[1]);
    if (pid_ < 0)
        fail("a child process does not start");
}

child::~child() {
    ::close(in_);
    ::close(out_);
    if (pid_ <= 0)
        return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

std::string child::next_line() {
    for (;;) {
        if (const std::size_t end = heard_.find('\n'); end != heard_.npos) {
            const std::string line = heard_.substr(0, end);
            heard_.erase(0, end + 1);
            return line;
        }
        std::array<char, 4096> bytes{};
        const ssize_t count = comes(out_) ? ::read(out_, bytes.data(), bytes.size()) : -1;
        if (count <= 0)
            throw std::runtime_error{"a child process says nothing more; it said: " + heard_};
        heard_.append(bytes.data(), static_cast<std::size_t>(count));
    }
}

bool child::has_said() {
    pollfd what{out_, POLLIN, 0};
    return !heard_.empty() || ::poll(&what, 1, 0) > 0;
}

void child::say(const std::string& line) {
    const std::string whole = line + "\n";
    if (::write(in_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
        fail("write");
}

void child::signal(int number) {
    if (::kill(pid_, number) != 0)
        fail("kill");
    siginfo_t how{}; // of its threads, one may go on for a while
    if (number == SIGSTOP &&
        ::waitid(P_PID, static_cast<id_t>(pid_), &how, WSTOPPED | WEXITED | WNOWAIT) != 0)
        fail("waitid");
}

int child::wait() {
    const pid_t ended = std::exchange(pid_, 0);
    return reaped(ended);
}

std::string found_by_fork(const std::function<void(findings&)>& look) {
    const std::array<int, 2> ends = new_pipe();
    const pid_t pid = ::fork();
    if (pid < 0)
        fail("fork");
    if (pid == 0) {
        findings found;
        try {
            look(found);
        } catch (const std::exception& e) {
            found.expect(false, e.what());
        }
        const std::string& text = found.text();
        const bool told = ::write(ends[1], text.data(), text.size()) >= 0;
        ::_exit(told ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text = all_from(ends[0]);
    ::close(ends[0]);
    const int status = reaped(pid);
    return status == 0 ? text : text + "exit status " + std::to_string(status);
}

void with_server::SetUp() {
    try {
        server_.emplace(support::servers().front(), how_);
    } catch (const support::server_unavailable& why) {
        if (support::servers_are_required())
            FAIL() << why.what();
        GTEST_SKIP() << why.what();
    }
}

bool with_server::is_free(const std::string& name) {
    return server().command({"EXISTS", name}).integer == 0;
}

bool with_server::is_renewed(const std::string& name) {
    const auto left = [&] { return server().command({"PTTL", name}).integer; };
    return eventually([&left, before = left()]() mutable {
        const std::int64_t last = std::exchange(before, left());
        return before > last && last > 0;
    });
}

bool with_server::is_waited_for(const std::string& name) {
    const std::string channel = "redisson_lock__channel:{" + name + "}";
    return server().command({"PUBSUB", "NUMSUB", channel}).items.at(1).integer > 0;
}

std::int64_t with_server::scripts_asked() {
    const std::string all = server().command({"INFO", "commandstats"}).text;
    const std::string_view before = "cmdstat_evalsha:calls=";
    const std::size_t at = all.find(before);
    return at == std::string::npos ? 0 : std::stoll(all.substr(at + before.size()));
}

std::set<std::string> with_server::connections() {
    std::istringstream clients{server().command({"CLIENT", "LIST"}).text};
    std::set<std::string> numbers;
    for (std::string line; std::getline(clients, line);)
        if (line.find(" cmd=client") == line.npos) // who asks
            numbers.insert(line.substr(0, line.find(' ')));
    return numbers;
}

} // namespace holdfast::process
