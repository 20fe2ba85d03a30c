// SPDX-License-Identifier: Apache-2.0
#include "cli/run/command_words.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <utility>

namespace cli {
namespace {

bool is_option(const std::string& word) {
    return word.size() > 1 && word.front() == '-';
}

bool needs_value(const CLI::App& known, const std::string& option) {
    const CLI::Option* const found = known.get_option_no_throw(option);
    return found != nullptr && found->get_items_expected_max() > 0;
}

/// Returns whether the option takes the next word as its value. Yes for `--wait`, `-w` and `-vw`,
/// no for `--wait=5`, `-w5` and `-v`.
bool takes_next_word(const CLI::App& known, const std::string& option) {
    if (option.starts_with("--"))
        return needs_value(known, option);
    for (std::size_t i = 1; i < option.size(); ++i)
        if (needs_value(known, {'-', option[i]}))
            return i + 1 == option.size();
    return false;
}

} // namespace

split_arguments split_at_command(const CLI::App& known, arguments all) {
    bool named = false;
    for (auto at = all.begin(); at != all.end(); ++at) {
        if (*at == "--")
            return {{all.begin(), at}, arguments{at + 1, all.end()}};
        if (is_option(*at)) {
            const auto value = at + 1;
            if (takes_next_word(known, *at) && value != all.end() && *value != "--")
                at = value;
        } else if (std::exchange(named, true)) {
            return {{all.begin(), at}, arguments{at, all.end()}};
        }
    }
    return {std::move(all), std::nullopt};
}

} // namespace cli
