// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/time.hpp>

#include <string>
#include <vector>

namespace cli {

/// Shows how far the demo's workers are: bars that grow in place on a terminal, a line for each
/// quarter elsewhere. No colours, 80 columns.
class demo_board {
public:
    demo_board(std::size_t workers, int adds_each);

    void advance(std::size_t worker, int adds);

    /// Shows the last state.
    void finish();

private:
    void draw_bars();
    void print_quarter();
    int total() const;

    const int adds_each_;
    const bool in_place_;
    std::vector<int> done_;
    bool drawn_ = false;
    int quarters_printed_ = 0;
    holdfast::time_point draw_again_at_{};
};

/// Whether stdout is a terminal on which the cursor can be moved.
bool stdout_is_terminal();

} // namespace cli
