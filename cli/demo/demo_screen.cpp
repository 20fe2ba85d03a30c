// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_screen.hpp"

#include <iostream>

#include <unistd.h>

namespace cli {

demo_screen::demo_screen()
    : demo_screen{form_of(STDOUT_FILENO)} {}

demo_screen::demo_screen(const output_form& form)
    : live_{form.live && form.columns >= columns_needed}
    , coloured_{live_ && form.colours} {}

void demo_screen::show(const std::vector<std::string>& lines) {
    std::string picture;
    if (shown_ > 0)
        // move the cursor to the start of the first shown line
        picture = "\x1b[" + std::to_string(shown_) + "F";
    for (const std::string& line : lines)
        picture += line + "\x1b[K\n";
    shown_ = lines.size();
    std::cout << picture << std::flush; // one write, because several writes would flicker
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
