// SPDX-License-Identifier: Apache-2.0
#include "cli/text/table.hpp"

#include "cli/terminal/say.hpp"
#include "cli/text/utf8.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <ostream>
#include <string_view>

namespace cli {
namespace {

constexpr std::size_t gap = 2;

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string shown = cut(cells[i], widths[i]);
        line += shown;
        if (i + 1 < cells.size())
            line.append(widths[i] - width_of(shown) + gap, ' ');
    }
    return line;
}

} // namespace

void table::add(std::vector<std::string> cells) {
    assert(cells.size() == columns_.size());
    for (std::string& each : cells)
        each = printable(each, each.size());
    lines_.push_back(std::move(cells));
}

std::vector<std::size_t> table::widths(std::size_t at_most) const {
    std::vector<std::size_t> widths;
    for (const column& each : columns_)
        widths.push_back(width_of(each.title));
    for (const auto& line : lines_)
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], width_of(line[i]));
    const std::size_t all =
        std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
    std::size_t surplus = all - std::min(all, at_most);
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::size_t least = columns_[i].least == 0 ? widths[i] : columns_[i].least;
        const std::size_t given = std::min(surplus, widths[i] - std::min(widths[i], least));
        widths[i] -= given;
        surplus -= given;
    }
    return widths;
}

void table::print(std::ostream& out, const output_form& form) const {
    const std::vector<std::size_t> widths = this->widths(form.columns);
    std::vector<std::string> titles;
    for (const column& each : columns_)
        titles.push_back(each.title);
    constexpr std::string_view bold = "\x1b[1m", plain = "\x1b[0m";
    out << (form.colours ? bold : "") << line_of(titles, widths) << (form.colours ? plain : "")
        << '\n';
    for (const auto& line : lines_)
        out << line_of(line, widths) << '\n';
}

} // namespace cli
