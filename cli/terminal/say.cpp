// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/say.hpp"

#include "cli/text/utf8.hpp"

#include <algorithm>
#include <cctype>

#include <unistd.h>

namespace cli {

void say(std::string_view text) {
    std::string line = "holdfast: ";
    line.append(text).append("\n");
    // If the write to stderr fails, there is no way to report it.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

std::string printable(std::string_view text, std::size_t longest) {
    std::string shown = as_utf8(text.substr(0, longest), "?");
    std::ranges::replace_if(
        shown, [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
    shown = without_commands(shown, [](char32_t) { return std::string{"?"}; });
    return text.size() > longest ? shown + "..." : shown;
}

std::string on_one_line(std::string_view text) {
    std::string line;
    for (const char each : text) {
        const bool blank = each == '\n' || each == '\r' || each == '\t' || each == ' ';
        if (!blank)
            line += each;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    if (line.ends_with(' '))
        line.pop_back();
    return line;
}

} // namespace cli
