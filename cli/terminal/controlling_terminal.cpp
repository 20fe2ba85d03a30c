// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/controlling_terminal.hpp"

#include <csignal>

#include <unistd.h>

namespace cli {

namespace {

/// Guard that blocks SIGTTOU. Otherwise a background process that changes the terminal is stopped.
class without_sigttou {
public:
    without_sigttou() noexcept {
        sigset_t asking;
        ::sigemptyset(&asking);
        ::sigaddset(&asking, SIGTTOU);
        ::sigprocmask(SIG_BLOCK, &asking, &before_);
    }
    without_sigttou(const without_sigttou&) = delete;
    ~without_sigttou() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
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
    // TCSANOW does not wait for output, which Ctrl-S may hold up.
    ::tcsetattr(device_.get(), TCSANOW, &before);
}

bool controlling_terminal::is_stdin() noexcept {
    return ::tcgetpgrp(STDIN_FILENO) >= 0; // succeeds only for the terminal of this session
}

} // namespace cli
