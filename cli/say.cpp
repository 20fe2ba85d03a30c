// SPDX-License-Identifier: Apache-2.0
#include "cli/say.hpp"

#include <algorithm>
#include <cctype>

#include <unistd.h>

namespace cli {

void say(std::string_view text) {
    std::string line = "holdfast: ";
    line.append(text).append("\n");
    // If nobody can read it there is nobody to tell.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

std::string printable(std::string_view text, std::size_t longest) {
    std::string shown{text.substr(0, longest)};
    std::ranges::replace_if(
        shown, [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
    return text.size() > longest ? shown + "..." : shown;
}

} // namespace cli
