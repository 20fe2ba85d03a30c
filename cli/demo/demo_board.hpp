// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/demo/demo_screen.hpp"

#include <holdfast/time.hpp>

#include <string>
#include <vector>

namespace cli {

/// Display of the workers' progress and of how many of their additions were lost. On a live screen
/// this is a table that is redrawn; otherwise it prints a line for each quarter.
class demo_board {
public:
    demo_board(demo_screen&, std::size_t workers, int adds_each, bool locked);

    /// Records that a worker has now made `adds` additions and that the file contains `number`.
    void advance(std::size_t worker, int adds, long number);

    /// Shows the final state.
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
    std::size_t last_ = 0; ///< the worker that reported last
    bool finished_ = false;
    int quarters_printed_ = 0;
    holdfast::time_point draw_again_at_{};
};

} // namespace cli
