// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/demo/demo_screen.hpp"

#include <holdfast/time.hpp>

#include <string>
#include <vector>

namespace cli {

/// Display of the workers' progress and of the number of lost additions. On a live screen it
/// redraws a table. Otherwise it prints a line after each quarter of the work.
class demo_board {
public:
    demo_board(demo_screen&, std::size_t workers, int adds_each, bool locked);

    /// Records that a worker has made `adds` additions so far, and that the file contains `number`
    /// now.
    void advance(std::size_t worker, int adds, long number);

    /// Shows the final state. `number` is the final content of the file.
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
    std::size_t last_ = 0; ///< index of the worker that reported last
    bool finished_ = false;
    int quarters_printed_ = 0;
    holdfast::time_point draw_again_at_{};
};

} // namespace cli
