// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_session.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace holdfast::cli_test {
namespace {

void set_size(int terminal, terminal_size size) {
    const winsize told{size.rows, size.columns, 0, 0};
    ::ioctl(terminal, TIOCSWINSZ, &told);
}

[[noreturn]] void become(const std::string& device, char* const* words, char* const* variables,
                         terminal_size size) {
    ::setsid();
    const int terminal = ::open(device.c_str(), O_RDWR); // and so the session's own
    ::ioctl(terminal, TIOCSCTTY, 0);
    set_size(terminal, size);
    for (const int each : {0, 1, 2})
        ::dup2(terminal, each);
    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    for (int number = 1; number < NSIG; ++number)
        ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvpe(words[0], words, variables);
    ::_exit(99);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& each : texts)
        all.push_back(each.data());
    return all;
}

} // namespace

terminal_session::terminal_session(std::vector<std::string> command,
                                   std::vector<std::string> variables, terminal_size size)
    : terminal_{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)} {
    if (terminal_ < 0 || ::grantpt(terminal_) != 0 || ::unlockpt(terminal_) != 0)
        throw std::system_error{errno, std::system_category(), "pseudo-terminal"};
    std::array<char, 64> device{};
    ::ptsname_r(terminal_, device.data(), device.size());

    std::vector<char*> words = pointers_to(command);
    words.push_back(nullptr);
    std::vector<char*> environment = pointers_to(variables);
    for (char** one = environ; *one != nullptr; ++one)
        environment.push_back(*one);
    environment.push_back(nullptr);
    id_ = ::fork();
    if (id_ == 0)
        become(device.data(), words.data(), environment.data(), size);
}

terminal_session::~terminal_session() {
    if (id_ > 0) {
        ::kill(id_, SIGKILL);
        ::waitpid(id_, nullptr, 0);
    }
    ::close(terminal_); // hangs up on all who are left
}

void terminal_session::type(const std::string& keys) {
    if (::write(terminal_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
        throw std::system_error{errno, std::system_category(), "typing"};
}

void terminal_session::resize(terminal_size size) {
    set_size(terminal_, size);
}

bool terminal_session::is_full() const {
    constexpr int kernel_keeps = 4095; // bytes that the kernel keeps for the reader of a terminal
    int unread = 0;
    ::ioctl(terminal_, FIONREAD, &unread);
    return unread >= kernel_keeps;
}

void terminal_session::read_some() {
    pollfd shown{terminal_, POLLIN, 0};
    ::poll(&shown, 1, 20);
    std::array<char, 4096> chunk;
    const ssize_t got = ::read(terminal_, chunk.data(), chunk.size());
    if (got > 0)
        screen_.append(chunk.data(), static_cast<std::size_t>(got));
}

std::string terminal_session::expect(const std::string& text) {
    const time_point give_up_at = boot_clock::now() + far_too_long;
    for (;;) {
        if (const std::size_t at = screen_.find(text); at != std::string::npos) {
            std::string before = screen_.substr(0, at);
            screen_.erase(0, at + text.size());
            return before;
        }
        if (boot_clock::now() > give_up_at)
            throw too_late{"no '" + text + "' on the terminal, but: " + screen_};
        read_some();
    }
}

pid_t terminal_session::foreground() const {
    return ::tcgetpgrp(terminal_);
}

int terminal_session::end() {
    const time_point give_up_at = boot_clock::now() + far_too_long;
    int how = 0;
    while (::waitpid(id_, &how, WNOHANG) == 0) {
        if (boot_clock::now() > give_up_at)
            throw too_late{"it does not end; on the terminal: " + screen_};
        read_some();
    }
    id_ = -1;
    return WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
}

} // namespace holdfast::cli_test
