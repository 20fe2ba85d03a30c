// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/full_screen.hpp"

#include "cli/terminal/output.hpp"
#include "cli/text/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cli {
namespace {

constexpr char ctrl_c = 3, ctrl_z = 26, escape_byte = 27, delete_byte = 127;

// Pipe through which a signal handler wakes read_key(). A signal may be delivered to another
// thread, so it does not always interrupt poll().
int wake_ends[2] = {-1, -1};

extern "C" void wake_at_signal(int) {
    const int saved = errno;
    const char quit = ctrl_c;
    [[maybe_unused]] const auto written = ::write(wake_ends[1], &quit, 1);
    errno = saved;
}

void write_to_screen(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

} // namespace

bool full_screen::is_possible() {
    return ::isatty(STDIN_FILENO) == 1 && form_of(STDOUT_FILENO).live;
}

full_screen::full_screen() {
    if (::pipe2(wake_ends, O_CLOEXEC | O_NONBLOCK) != 0)
        wake_ends[0] = wake_ends[1] = -1;
    for (const int each : {SIGTERM, SIGHUP})
        ::signal(each, wake_at_signal);
    enter();
}

full_screen::~full_screen() {
    leave();
    for (const int each : {SIGTERM, SIGHUP})
        ::signal(each, SIG_DFL);
    for (int& each : wake_ends) {
        if (each >= 0)
            ::close(each);
        each = -1;
    }
}

void full_screen::enter() {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    write_to_screen("\x1b[?1049h\x1b[?25l\x1b[H\x1b[J"); // second screen, no cursor
}

void full_screen::leave() {
    write_to_screen("\x1b[?25h\x1b[?1049l");
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

full_screen::dimensions full_screen::size() const {
    winsize size{};
    constexpr std::size_t usual_columns = 80, usual_rows = 24;
    const bool told = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    return {told && size.ws_col > 0 ? size.ws_col : usual_columns,
            told && size.ws_row > 0 ? size.ws_row : usual_rows};
}

void full_screen::draw(const std::vector<std::string>& lines, std::optional<std::size_t> marked) {
    const auto [columns, rows] = size();
    std::string frame = "\x1b[H";
    for (std::size_t i = 0; i < std::min(lines.size(), rows); ++i) {
        frame += i > 0 ? "\r\n" : "";
        frame += marked == i ? "\x1b[7m" : "";
        frame += cut(lines[i], columns);
        frame += marked == i ? "\x1b[27m\x1b[K" : "\x1b[K";
    }
    write_to_screen(frame + "\x1b[J");
}

full_screen::pressed full_screen::read_key(holdfast::time_point until) {
    while (typed_.empty()) {
        const auto left = until - holdfast::boot_clock::now();
        if (left <= holdfast::duration{})
            return {};
        std::array<pollfd, 2> ready{{{STDIN_FILENO, POLLIN, 0}, {wake_ends[0], POLLIN, 0}}};
        const int count = ::poll(ready.data(), ready.size(), static_cast<int>(left.count()));
        if (count == 0)
            return {};
        if (count < 0)
            continue; // a signal; the loop ends at `until`
        const bool is_signal = ready[1].revents != 0;
        std::array<char, 64> some{};
        const ssize_t got =
            ::read(is_signal ? wake_ends[0] : STDIN_FILENO, some.data(), some.size());
        if (got <= 0)
            return {key::quit, 0}; // the terminal is gone
        typed_.append(some.data(), static_cast<std::size_t>(got));
    }
    return next_key();
}

/// Takes the next key from the bytes that were read.
full_screen::pressed full_screen::next_key() {
    const char first = typed_.front();
    if (typed_.starts_with("\x1b[") && typed_.size() > 2) {
        const char letter = typed_[2];
        typed_.erase(0, 3);
        return {letter == 'A' ? key::up : letter == 'B' ? key::down : key::none, 0};
    }
    typed_.erase(0, 1);
    switch (first) {
    case ctrl_c:
        return {key::quit, 0};
    case ctrl_z:
        leave();
        ::raise(SIGTSTP); // continues here after SIGCONT
        enter();
        return {};
    case escape_byte:
        return {key::escape, 0};
    case '\r':
    case '\n':
        return {key::enter, 0};
    case '\b':
    case delete_byte:
        return {key::backspace, 0};
    default:
        return {key::character, first};
    }
}

} // namespace cli
