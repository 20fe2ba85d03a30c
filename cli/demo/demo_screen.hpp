// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/terminal/output.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Output of the demo. On a terminal with 80 columns or more, it redraws tables in place, in
/// colours unless NO_COLOR is set. Elsewhere (a pipe, TERM=dumb) it only appends lines.
class demo_screen {
public:
    demo_screen();
    demo_screen(const demo_screen&) = delete;

    bool is_live() const noexcept { return live_; }

    /// Shows these lines in place of the lines of the previous call. Call it only on a live screen.
    void show(const std::vector<std::string>& lines);

    /// Leaves the shown lines on the screen. The next lines are printed below them.
    void keep() noexcept { shown_ = 0; }

    std::string good(std::string_view) const;
    std::string bad(std::string_view) const;

private:
    static constexpr std::size_t columns_needed = 80;

    explicit demo_screen(const output_form&);
    std::string tinted(std::string_view code, std::string_view) const;

    const bool live_;
    const bool coloured_;
    std::size_t shown_ = 0; ///< number of lines above the cursor that may be overwritten
};

} // namespace cli
