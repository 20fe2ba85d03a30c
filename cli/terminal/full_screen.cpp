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

/// Signals that end the program. They wake read_key().
constexpr std::array ending_signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/// Other signals that wake read_key(): the terminal's size has changed, the program must stop, or
/// it continues after a stop.
constexpr std::array other_signals{SIGWINCH, SIGTSTP, SIGCONT};

/// Longest pause between the bytes of one key, in milliseconds. After a longer pause, the byte ESC
/// means the key Esc.
constexpr int pause_in_key = 25;

/// Longest wait for a terminal that takes no output, in milliseconds. After that, the rest of the
/// output is dropped. The next frame draws the whole screen again.
constexpr int output_timeout = 500;

// Pipe through which a signal handler or wake() wakes read_key(). Each byte is a signal's number.
// The pipe is needed because a signal does not wake read_key() if another thread gets the signal.
int wake_ends[2] = {-1, -1};

extern "C" void wake_at_signal(int number) {
    const int saved = errno;
    const auto byte = static_cast<char>(number);
    [[maybe_unused]] const auto written = ::write(wake_ends[1], &byte, 1);
    errno = saved;
}

/// Sets the handler of a signal. Returns the action that it replaces.
struct sigaction set_action(int number, void (*handler)(int)) {
    struct sigaction action {
    }, before{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, &before);
    return before;
}

/// Opens the terminal of stdout once more. Its mode O_NONBLOCK is then not the mode of stdout,
/// which the shell and other programs share. Returns -1 if that fails.
int open_for_output() {
    return ::open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

} // namespace

bool full_screen::is_possible() {
    return ::isatty(STDIN_FILENO) == 1 && form_of(STDOUT_FILENO).live;
}

full_screen::full_screen() {
    if (::pipe2(wake_ends, O_CLOEXEC | O_NONBLOCK) != 0)
        wake_ends[0] = wake_ends[1] = -1;
    const auto handle = [this](int number) {
        actions_before_[number] = set_action(number, wake_at_signal);
    };
    std::ranges::for_each(ending_signals, handle);
    std::ranges::for_each(other_signals, handle);
    output_ = open_for_output();
    ::tcgetattr(STDIN_FILENO, &before_);
    enter();
}

full_screen::~full_screen() {
    leave();
    for (const auto& [number, action] : actions_before_)
        ::sigaction(number, &action, nullptr);
    if (output_ >= 0)
        ::close(output_);
    for (int& each : wake_ends) {
        if (each >= 0)
            ::close(each);
        each = -1;
    }
}

void full_screen::wake() noexcept {
    wake_at_signal(0);
}

/// Writes to the terminal. If the terminal takes no output for a while, drops the rest of the text.
void full_screen::write(std::string_view text) {
    const int terminal = output_ >= 0 ? output_ : STDOUT_FILENO;
    while (!text.empty()) {
        const ssize_t written = ::write(terminal, text.data(), text.size());
        if (written > 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            pollfd ready{terminal, POLLOUT, 0};
            if (::poll(&ready, 1, output_timeout) == 0)
                return;
        } else if (errno != EINTR) {
            return;
        }
    }
}

/// Shows the alternate screen, and reads keys without Enter. After a stop, a shell may have changed
/// the terminal meanwhile. Its new modes are then the modes to restore.
void full_screen::enter() {
    termios now = before_;
    ::tcgetattr(STDIN_FILENO, &now);
    if ((now.c_lflag & ICANON) != 0) // otherwise, the modes are those of this program
        before_ = now;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    raw.c_iflag &= ~static_cast<tcflag_t>(IXON); // Ctrl-S would stop this program
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    write("\x1b[?1049h\x1b[?25l\x1b[H\x1b[J"); // alternate screen, no cursor
}

void full_screen::leave() {
    write("\x1b[?25h\x1b[?1049l");
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

/// Restores the terminal, and stops the program until SIGCONT. If nothing can continue it, the
/// system does not stop it.
void full_screen::suspend() {
    leave();
    ::sigaction(SIGTSTP, &actions_before_[SIGTSTP], nullptr);
    ::raise(SIGTSTP); // continues here
    set_action(SIGTSTP, wake_at_signal);
    enter();
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
    std::string frame = "\x1b[m\x1b[H"; // the frame before may have been cut in inverse colours
    const std::size_t count = std::min(lines.size(), rows);
    for (std::size_t i = 0; i < count; ++i) {
        // Erase the line before its text. After a text that fills the line, the cursor is still on
        // the last character, which would be erased.
        frame += i > 0 ? "\r\n\x1b[K" : "\x1b[K";
        frame += marked == i ? "\x1b[7m" : "";
        frame += cut(lines[i], columns);
        frame += marked == i ? "\x1b[27m" : "";
    }
    if (count < rows)
        frame += "\r\n\x1b[J";
    write(frame + "\x1b[m");
}

full_screen::pressed full_screen::read_key(holdfast::time_point until) {
    if (!typed_.empty())
        return next_key();
    const auto left =
        std::max(until - holdfast::boot_clock::now(), holdfast::duration::zero()).count();
    std::array<pollfd, 2> ready{{{STDIN_FILENO, POLLIN, 0}, {wake_ends[0], POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), static_cast<int>(left)) <= 0)
        return {}; // the time is over, or a signal came
    if (ready[1].revents != 0)
        return read_wake();
    if (!read_typed(0))
        return {key::quit, 0}; // the terminal is gone
    return next_key();
}

/// Handles the signals that have woken read_key().
full_screen::pressed full_screen::read_wake() {
    std::array<char, 64> numbers{};
    const ssize_t got = ::read(wake_ends[0], numbers.data(), numbers.size());
    const std::string_view told{numbers.data(),
                                static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
    for (const char number : told)
        if (std::ranges::find(ending_signals, number) != ending_signals.end())
            ended_by_ = static_cast<unsigned char>(number);
    if (ended_by_ != 0)
        return {key::quit, 0};
    if (told.find(static_cast<char>(SIGTSTP)) != told.npos)
        suspend();
    else if (told.find(static_cast<char>(SIGCONT)) != told.npos)
        enter(); // after SIGSTOP, which no handler sees
    return {};
}

/// Reads bytes from the terminal. Waits for the bytes at most for the given time. Returns whether
/// any bytes came.
bool full_screen::read_typed(int milliseconds) {
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    if (::poll(&ready, 1, milliseconds) <= 0)
        return false;
    std::array<char, 64> some{};
    const ssize_t got = ::read(STDIN_FILENO, some.data(), some.size());
    typed_.append(some.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return got > 0;
}

namespace {

/// Returns the number of bytes of an escape sequence at the start of the text: ESC, `[` or `O`,
/// parameters, and a letter or `~`. Returns 0 if the sequence is not complete.
std::size_t escape_sequence(std::string_view text) {
    for (std::size_t i = 2; i < text.size(); ++i)
        if (text[i] >= '@' && text[i] <= '~')
            return i + 1;
    return 0;
}

full_screen::key key_of(std::string_view sequence) {
    using key = full_screen::key;
    if (sequence.back() == 'A')
        return key::up;
    if (sequence.back() == 'B')
        return key::down;
    return sequence == "\x1b[5~"   ? key::page_up
           : sequence == "\x1b[6~" ? key::page_down
                                   : key::none;
}

} // namespace

/// Takes the next key from `typed_`.
full_screen::pressed full_screen::next_key() {
    const char first = typed_.front();
    const auto may_be_sequence = [this] {
        return typed_.size() == 1 || typed_[1] == '[' || typed_[1] == 'O';
    };
    while (first == escape_byte && may_be_sequence()) {
        if (const std::size_t size = typed_.size() > 2 ? escape_sequence(typed_) : 0; size != 0) {
            const key found = key_of(std::string_view{typed_}.substr(0, size));
            typed_.erase(0, size);
            return {found, 0};
        }
        if (!read_typed(pause_in_key))
            break;
    }
    typed_.erase(0, 1);
    switch (first) {
    case ctrl_c:
        return {key::quit, 0};
    case ctrl_z:
        suspend();
        return {};
    case escape_byte:
        return {key::escape, 0};
    case '\r':
    case '\n':
        return {key::enter, 0};
    case '\b':
    case delete_byte:
        return {key::backspace, 0};
    default: {
        const bool is_control = first >= 0 && first < ' '; // another control key does nothing
        return {is_control ? key::none : key::character, first};
    }
    }
}

} // namespace cli
