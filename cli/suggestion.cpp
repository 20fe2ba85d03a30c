// SPDX-License-Identifier: Apache-2.0
#include "cli/suggestion.hpp"

#include "cli/say.hpp"

#include <CLI/App.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace cli {
namespace {

/// How many letters are to be added, dropped or changed to make one word of the other.
std::size_t distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < to.size(); ++j) {
            const std::size_t change = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

/// The word that may have been meant, or null.
const std::string* nearest(std::string_view word, const std::vector<std::string>& words) {
    constexpr std::size_t typing_errors_max = 2, longest_word = 40;
    if (word.size() > longest_word || words.empty())
        return nullptr;
    const auto found = std::ranges::min_element(
        words, {}, [word](const std::string& each) { return distance(word, each); });
    // Two letters of a short word make another one.
    const std::size_t most = std::min(typing_errors_max, (found->size() + 1) / 3);
    return distance(word, *found) <= most ? &*found : nullptr;
}

std::vector<std::string> options_of(const CLI::App& verb) {
    std::vector<std::string> names;
    for (const CLI::Option* const each : verb.get_options())
        for (const std::string& name : each->get_lnames())
            names.push_back("--" + name);
    return names;
}

} // namespace

std::string advice_on(std::string_view word, const std::vector<std::string>& words,
                      std::string_view verb) {
    const std::string help =
        "'holdfast " + std::string{verb}.append(verb.empty() ? "" : " ") + "--help'";
    const std::string* const meant = nearest(word, words);
    return meant ? ": did you mean " + *meant + "? See " + help : "; see " + help;
}

void reject_surplus(const CLI::App& verb) {
    const std::vector<std::string> surplus = verb.remaining();
    if (surplus.empty())
        return;
    const std::string& first = surplus.front();
    if (!first.starts_with('-'))
        throw usage_error{"'" + printable(first) + "' is one word too many; see 'holdfast " +
                          verb.get_name() + " --help'"};
    const std::string name = first.substr(0, first.find('='));
    throw usage_error{"unknown option " + printable(first) +
                      advice_on(name, options_of(verb), verb.get_name())};
}

} // namespace cli
