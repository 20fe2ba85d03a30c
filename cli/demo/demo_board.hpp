// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/demo/demo_screen.hpp"

#include <holdfast/time.hpp>

#include <string>
#include <vector>

namespace cli {

/// Shows how far the demo's workers are, and what has become of their additions: a table that moves
/// on a live screen, a line for each quarter elsewhere.
class demo_board {
public:
    demo_board(demo_screen&, std::size_t workers, int adds_each, bool locked);

    /// `number`: what the file says now.
    void advance(std::size_t worker, int adds, long number);

    /// Shows the last state.
    void finish(long number);

private:
    void draw();
    void print_quarter();
    std::string state() const;
    int total() const;
    long lost() const;

    demo_screen& screen_;
    const int adds_each_;
    const bool locked_;
    std::vector<int> done_;
    long number_ = 0;
    std::size_t last_ = 0; ///< the worker that was heard of last
    bool finished_ = false;
    int quarters_printed_ = 0;
    holdfast::time_point draw_again_at_{};
};

} // namespace cli
