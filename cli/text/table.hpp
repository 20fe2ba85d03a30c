// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/terminal/output.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace cli {

/// Table with column titles. Each column is as wide as its contents. If the table is too wide,
/// columns are cut from the left, because the right columns are more important. Characters that
/// cannot be shown are replaced by `?`.
class table {
public:
    struct column {
        std::string title;
        std::size_t least = 0; ///< smallest width after a cut; 0: never cut
    };

    explicit table(std::vector<column> columns)
        : columns_{std::move(columns)} {}

    /// Adds a row. The row must have one cell for each column.
    void add(std::vector<std::string> cells);

    void print(std::ostream&, const output_form&) const;

private:
    std::vector<std::size_t> widths(std::size_t at_most) const;

    std::vector<column> columns_;
    std::vector<std::vector<std::string>> lines_;
};

} // namespace cli
