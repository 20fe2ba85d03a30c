// SPDX-License-Identifier: Apache-2.0
#include "cli/text/suggestion.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cli {
namespace {

/// Returns the number of typing errors between two words. An error is a letter that is missing,
/// added or wrong, or two swapped letters.
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

/// Returns the known word that the user probably meant, or null.
const std::string* nearest(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t slips_max = 2, longest_word = 40;
    if (word.size() > longest_word || known.empty())
        return nullptr;
    const auto slips = [word](const std::string& each) { return slips_between(word, each); };
    const auto found = std::ranges::min_element(known, {}, slips);
    // Allow few errors in a short word. With two wrong letters it could be any other word.
    const std::size_t most = std::min(slips_max, (found->size() + 1) / 3);
    return slips(*found) <= most ? &*found : nullptr;
}

} // namespace

std::string advice_on(std::string_view word, const std::vector<std::string>& known,
                      std::string_view verb) {
    const std::string help =
        "'holdfast " + std::string{verb}.append(verb.empty() ? "" : " ") + "--help'";
    const std::string* const meant = nearest(word, known);
    return meant ? ": did you mean " + *meant + "? See " + help : "; see " + help;
}

} // namespace cli
