// SPDX-License-Identifier: Apache-2.0
#include "support/child_process.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::support {
namespace {

/// Returns a pair of connected sockets, used as a pipe. A write to a real pipe whose reader has
/// ended would raise SIGPIPE and end the test.
std::array<int, 2> new_pair() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw std::system_error{errno, std::generic_category(), "socketpair"};
    return ends;
}

} // namespace

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

child_process::child_process(std::vector<std::string> command,
                             const std::filesystem::path& errors) {
    const std::vector<char*> arguments = pointers_to(command);
    const std::array<int, 2> input = new_pair(), output = new_pair();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output[0], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int error =
        ::posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(input[0]);
    ::close(output[0]);
    in_ = input[1];
    out_ = output[1];
    if (error == 0)
        return;
    ::close(in_);
    ::close(out_);
    throw std::system_error{error, std::generic_category(), command.front()};
}

child_process::~child_process() {
    if (pid_ != 0) {
        signal(SIGKILL);
        wait();
    }
    ::close(in_);
    ::close(out_);
}

std::optional<std::string> child_process::next_line() {
    for (;;) {
        if (const std::size_t end = heard_.find('\n'); end != heard_.npos) {
            std::string line = heard_.substr(0, end);
            heard_.erase(0, end + 1);
            return line;
        }
        std::array<char, 4096> bytes{};
        const ssize_t count = ::read(out_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return std::nullopt;
        heard_.append(bytes.data(), static_cast<std::size_t>(count));
    }
}

bool child_process::speaks_within(std::chrono::milliseconds limit) const {
    if (!heard_.empty())
        return true;
    pollfd output{.fd = out_, .events = POLLIN, .revents = 0};
    int ready = 0;
    do
        ready = ::poll(&output, 1, static_cast<int>(limit.count()));
    while (ready < 0 && errno == EINTR);
    return ready > 0;
}

void child_process::say(const std::string& line) {
    const std::string whole = line + "\n";
    for (std::size_t sent = 0; sent < whole.size();) {
        const ssize_t count = ::send(in_, whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR)
            return;
        sent += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
}

void child_process::signal(int number) const {
    ::kill(pid_, number);
}

int child_process::wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace holdfast::support
