// SPDX-License-Identifier: Apache-2.0
#include "cli/suggestion.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cli {
namespace {

/// How many slips of the fingers lie between them: a letter too few, too many, wrong, or two
/// swapped.
std::size_t slips_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::iota(last.begin(), last.end(), 0U);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::vector<std::size_t> row(b.size() + 1, i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        before_last = std::exchange(last, std::move(row));
    }
    return last.back();
}

} // namespace

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
    const std::string_view word = given.substr(0, std::min(given.find('='), std::size_t{32}));
    const auto distance = [word](const std::string& each) { return slips_between(word, each); };
    const auto nearest = std::ranges::min_element(known, {}, distance);
    // Of a short word, two wrong letters leave nothing.
    if (nearest == known.end() || distance(*nearest) > std::min<std::size_t>(2, word.size() / 3))
        return {};
    return " (did you mean " + *nearest + "?)";
}

} // namespace cli
