// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/terminal/output.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Output of the demo. On a terminal of 80 columns or more, tables are redrawn in place, in colours
/// unless NO_COLOR is set. Elsewhere (a pipe, TERM=dumb) the lines follow each other.
class demo_screen {
public:
    demo_screen();
    demo_screen(const demo_screen&) = delete;

    bool is_live() const noexcept { return live_; }

    /// Shows these lines in place of the lines of the last call. Only for a live screen.
    void show(const std::vector<std::string>& lines);

    /// Leaves the shown lines in place; the next lines come below them.
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
