// SPDX-License-Identifier: Apache-2.0
#include "cli/demo_screen.hpp"

#include <cstdlib>
#include <iostream>

#include <sys/ioctl.h>
#include <unistd.h>

namespace cli {
namespace {

bool can_be_written_over() {
    const char* const kind = std::getenv("TERM");
    winsize size{};
    const bool narrow =
        ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_col < 80;
    return ::isatty(STDOUT_FILENO) == 1 && kind != nullptr && std::string_view{kind} != "dumb" &&
           !narrow;
}

/// no-color.org: set and not empty.
bool colours_are_welcome() {
    const char* const no = std::getenv("NO_COLOR");
    return no == nullptr || *no == '\0';
}

} // namespace

demo_screen::demo_screen()
    : live_{can_be_written_over()}
    , coloured_{live_ && colours_are_welcome()} {}

void demo_screen::show(const std::vector<std::string>& lines) {
    std::string picture;
    if (shown_ > 0)
        picture = "\x1b[" + std::to_string(shown_) + "F"; // to the start of the first of them
    for (const std::string& line : lines)
        picture += line + "\x1b[K\n";
    shown_ = lines.size();
    std::cout << picture << std::flush; // at once, or it would flicker
}

std::string demo_screen::good(std::string_view text) const {
    return tinted("\x1b[32m", text);
}

std::string demo_screen::bad(std::string_view text) const {
    return tinted("\x1b[31m", text);
}

std::string demo_screen::tinted(std::string_view code, std::string_view text) const {
    std::string all{text};
    return coloured_ ? std::string{code} + all + "\x1b[0m" : all;
}

} // namespace cli
