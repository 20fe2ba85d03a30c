// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/terminal/output.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Where the demo is watched: on a terminal of 80 columns or more its tables move, in colours
/// unless NO_COLOR forbids them; elsewhere (a pipe, TERM=dumb) there is one line after the other.
class demo_screen {
public:
    demo_screen();
    demo_screen(const demo_screen&) = delete;

    bool is_live() const noexcept { return live_; }

    /// Shows these lines in the place of those of the last time. Live only.
    void show(const std::vector<std::string>& lines);

    /// What is shown stays; the next lines come below it.
    void keep() noexcept { shown_ = 0; }

    std::string good(std::string_view) const;
    std::string bad(std::string_view) const;

private:
    static constexpr std::size_t columns_needed = 80;

    explicit demo_screen(const output_form&);
    std::string tinted(std::string_view code, std::string_view) const;

    const bool live_;
    const bool coloured_;
    std::size_t shown_ = 0; ///< lines above the cursor that may be written over
};

} // namespace cli
