// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/terminal/output.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace cli {

/// Lines of cells under titles, as wide as they need to be. Where that is too wide, columns are
/// cut, the first one first: what stands behind it is worth more. What cannot be shown is shown as
/// `?`.
class table {
public:
    struct column {
        std::string title;
        std::size_t least = 0; ///< how narrow it may become; 0: it is never cut
    };

    explicit table(std::vector<column> columns)
        : columns_{std::move(columns)} {}

    /// As many as there are columns.
    void add(std::vector<std::string> cells);

    void print(std::ostream&, const output_form&) const;

private:
    std::vector<std::size_t> widths(std::size_t at_most) const;

    std::vector<column> columns_;
    std::vector<std::vector<std::string>> lines_;
};

} // namespace cli
