// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/output.hpp"

#include "cli/exit_status.hpp"
#include "cli/run/inheritance.hpp"
#include "cli/terminal/say.hpp"

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <string_view>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cli {
namespace {

/// Returns whether the terminal can move its cursor. A `dumb` terminal cannot.
bool can_move_its_cursor() {
    const char* const kind = std::getenv("TERM");
    return kind != nullptr && std::string_view{kind} != "dumb";
}

/// Returns whether colours are allowed (https://no-color.org). A NO_COLOR that is set and not empty
/// forbids them.
bool colours_are_welcome() {
    const char* const forbidden = std::getenv("NO_COLOR");
    return forbidden == nullptr || *forbidden == '\0';
}

/// Returns whether stdout is a pipe without a reader. Then a message about the failed output is
/// useless.
bool reader_is_gone() {
    pollfd out{STDOUT_FILENO, 0, 0};
    return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

} // namespace

output_form form_of(int descriptor) {
    if (::isatty(descriptor) != 1)
        return {std::numeric_limits<std::size_t>::max(), false, false};
    constexpr std::size_t usual = 80;
    winsize size{};
    const bool told = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const bool live = can_move_its_cursor();
    return {told ? size.ws_col : usual, live, live && colours_are_welcome()};
}

void end_with_reader(const inheritance& inherited) {
    if (!inherited.ignores(SIGPIPE))
        ::signal(SIGPIPE, SIG_DFL);
}

int after_output(int status) {
    if (std::cout.flush())
        return status;
    if (!reader_is_gone())
        say("the output could not be written: is the disk full?");
    return unwritten;
}

} // namespace cli
