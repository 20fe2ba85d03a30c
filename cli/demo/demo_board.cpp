// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_board.hpp"

#include <algorithm>
#include <iostream>
#include <numeric>

namespace cli {

demo_board::demo_board(demo_screen& screen, std::size_t workers, int adds_each, bool locked)
    : screen_{screen}
    , adds_each_{adds_each}
    , locked_{locked}
    , done_(workers) {
    if (screen_.is_live())
        draw();
}

void demo_board::advance(std::size_t worker, int adds, long number) {
    done_[worker] += adds;
    number_ = number;
    last_ = worker;
    if (!screen_.is_live()) {
        print_quarter();
    } else if (const auto now = holdfast::boot_clock::now(); now >= draw_again_at_) {
        draw();
        draw_again_at_ = now + std::chrono::milliseconds{40};
    }
}

void demo_board::finish(long number) {
    number_ = number;
    finished_ = true;
    if (screen_.is_live())
        draw();
    screen_.keep();
}

void demo_board::draw() {
    constexpr int width = 36;
    std::vector<std::string> lines;
    for (std::size_t worker = 0; worker < done_.size(); ++worker) {
        const auto filled = static_cast<std::size_t>(width * done_[worker] / adds_each_);
        const std::string count = std::to_string(done_[worker]);
        const bool holds = locked_ && !finished_ && worker == last_ && total() > 0;
        lines.push_back("   process " + std::to_string(worker + 1) + "  " +
                        std::string(filled, '#') + std::string(width - filled, '.') +
                        std::string(5 - count.size(), ' ') + count +
                        (holds ? screen_.good("  <- has the lock") : ""));
    }
    lines.push_back("   " + state());
    screen_.show(lines);
}

void demo_board::print_quarter() {
    const int whole = adds_each_ * static_cast<int>(done_.size());
    if (total() * 4 / whole <= quarters_printed_)
        return;
    quarters_printed_ = total() * 4 / whole;
    std::cout << "   " << state() << "; by process:";
    for (const int each : done_)
        std::cout << ' ' << each;
    std::cout << std::endl;
}

std::string demo_board::state() const {
    const std::string lost_so_far = std::to_string(lost()) + " lost";
    return std::to_string(total()) + " additions, the number is " + std::to_string(number_) + ", " +
           (lost() > 0 ? screen_.bad(lost_so_far) : screen_.good(lost_so_far));
}

int demo_board::total() const {
    return std::accumulate(done_.begin(), done_.end(), 0);
}

/// Returns the number of lost additions so far. It may be too low for a moment, because a worker
/// reports an addition after it has written the file.
long demo_board::lost() const {
    return std::max(0L, total() - number_);
}

} // namespace cli
