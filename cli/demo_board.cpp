// SPDX-License-Identifier: Apache-2.0
#include "cli/demo_board.hpp"

#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string_view>

#include <unistd.h>

namespace cli {

bool stdout_is_terminal() {
    const char* const kind = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && kind != nullptr && std::string_view{kind} != "dumb";
}

demo_board::demo_board(std::size_t workers, int adds_each)
    : adds_each_{adds_each}
    , in_place_{stdout_is_terminal()}
    , done_(workers) {
    if (in_place_)
        draw_bars();
}

void demo_board::advance(std::size_t worker, int adds) {
    done_[worker] += adds;
    if (!in_place_) {
        print_quarter();
    } else if (const auto now = holdfast::boot_clock::now(); now >= draw_again_at_) {
        draw_bars();
        draw_again_at_ = now + std::chrono::milliseconds{40};
    }
}

void demo_board::finish() {
    if (in_place_)
        draw_bars();
}

void demo_board::draw_bars() {
    constexpr int width = 50;
    std::string picture;
    if (drawn_)
        picture = "\x1b[" + std::to_string(done_.size()) + "F"; // to the start of the first bar
    drawn_ = true;
    for (std::size_t worker = 0; worker < done_.size(); ++worker) {
        const auto filled = static_cast<std::size_t>(width * done_[worker] / adds_each_);
        const std::string count = std::to_string(done_[worker]);
        picture += "   process " + std::to_string(worker + 1) + "  " + std::string(filled, '#') +
                   std::string(width - filled, '.') + std::string(5 - count.size(), ' ') + count +
                   '\n';
    }
    std::cout << picture << std::flush;
}

void demo_board::print_quarter() {
    const int whole = adds_each_ * static_cast<int>(done_.size());
    if (total() * 4 / whole <= quarters_printed_)
        return;
    quarters_printed_ = total() * 4 / whole;
    std::cout << "   " << total() << " of " << whole << " additions; by process:";
    for (const int each : done_)
        std::cout << ' ' << each;
    std::cout << std::endl;
}

int demo_board::total() const {
    return std::accumulate(done_.begin(), done_.end(), 0);
}

} // namespace cli
