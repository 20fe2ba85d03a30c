// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/controlling_terminal.hpp"

#include <csignal>

#include <termios.h>
#include <unistd.h>

namespace cli {

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
    sigset_t asking; // in the background, asking for the foreground stops whoever does not block it
    sigset_t before;
    ::sigemptyset(&asking);
    ::sigaddset(&asking, SIGTTOU);
    ::sigprocmask(SIG_BLOCK, &asking, &before);
    ::tcsetpgrp(device_.get(), group);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

bool controlling_terminal::is_stdin() noexcept {
    return ::tcgetpgrp(STDIN_FILENO) >= 0; // answered for the session's own terminal alone
}

} // namespace cli
