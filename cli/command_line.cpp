// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include "cli/terminal/output.hpp"
#include "cli/text/text.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iostream>
#include <utility>

namespace cli {

namespace {

/// Returns the name of an option without its value, because the value may be a password.
std::string name_of(const std::string& option) {
    return option.substr(0, option.find('='));
}

std::vector<std::string> options_of(const CLI::App& verb) {
    std::vector<std::string> names;
    for (const CLI::Option* const each : verb.get_options())
        for (const std::string& name : each->get_lnames())
            names.push_back("--" + name);
    return names;
}

/// Returns the words that CLI11 did not recognize, without the word `--` that ends the options.
arguments surplus_of(const CLI::App& verb) {
    arguments words = verb.remaining();
    if (const auto dashes = std::ranges::find(words, "--"); dashes != words.end())
        words.erase(dashes);
    return words;
}

/// Throws `usage_error` if the first unrecognized word is an option. Later words may be a command
/// with its own options, so only the verb (run, ls, …) can check them.
void reject_unknown_option(const CLI::App& verb) {
    const arguments surplus = surplus_of(verb);
    if (surplus.empty() || !surplus.front().starts_with('-'))
        return;
    const std::string name = name_of(surplus.front());
    throw usage_error{"unknown option " + printable(name) +
                      advice_on(name, options_of(verb), verb.get_name())};
}

/// Returns a message for the two mistakes that CLI11 finds: an option without its value, and an
/// option that is given twice.
std::string mistake_in_words(const CLI::ParseError& wrong, const CLI::App& verb) {
    std::string all = wrong.what();
    const std::size_t dash = std::min(all.find('-'), all.size());
    const std::string option = all.substr(dash, all.find_first_of(":= ", dash) - dash);
    const CLI::Option* const meant = verb.get_option_no_throw(option);
    if (meant == nullptr)
        return all;
    return option + (meant->count() > 1 ? " is given more than once" : " needs a value");
}

bool is_option(const std::string& word) {
    return word.size() > 1 && word.front() == '-';
}

bool needs_value(const CLI::App& known, const std::string& option) {
    const CLI::Option* const found = known.get_option_no_throw(option);
    return found != nullptr && found->get_items_expected_max() > 0;
}

/// Returns whether the option takes the next word as its value. The result is true for `--wait`,
/// `-w` and `-vw`, and false for `--wait=5`, `-w5` and `-v`.
bool takes_next_word(const CLI::App& known, const std::string& option) {
    if (option.starts_with("--"))
        return needs_value(known, option);
    for (std::size_t i = 1; i < option.size(); ++i)
        if (needs_value(known, {'-', option[i]}))
            return i + 1 == option.size();
    return false;
}

/// Returns whether the option takes no value. The value of --fenced is optional. CLI11 stores a
/// default value (`get_fnames`) for this option only.
bool refuses_value(const CLI::App& known, const std::string& option) {
    const CLI::Option* const found = known.get_option_no_throw(option);
    return found != nullptr && found->get_items_expected_max() == 0 && found->get_fnames().empty();
}

/// Returns the flag to which the user gave a value: `--force` for `--force=1`, `-v` for `-nv=1`.
/// Returns an empty text if no flag has a value.
std::string flag_with_value(const CLI::App& known, const std::string& option) {
    std::string name = name_of(option);
    if (name == option)
        return {};
    if (!name.starts_with("--")) {
        for (std::size_t i = 1; i < name.size(); ++i)
            if (needs_value(known, {'-', name[i]}))
                return {}; // the rest of the word is its value
        name = {'-', name.back()};
    }
    return refuses_value(known, name) ? name : "";
}

/// Throws `usage_error` if an option that takes no value has a value, as in `--force=1`. The check
/// is needed because CLI11 accepts some of these values, for example `1`, `true` and an empty text.
/// Also throws for `--url=` without a value, because CLI11 would take the next word as the URL.
void reject_wrong_values(const CLI::App& known, const arguments& given) {
    const auto refuse = [&known](std::string option, const char* why) {
        throw usage_error{option.append(why)
                              .append("; see 'holdfast ")
                              .append(known.get_name())
                              .append(" --help'")};
    };
    for (auto at = given.begin(); at != given.end() && *at != "--"; ++at) {
        if (!is_option(*at))
            continue;
        if (const std::string flag = flag_with_value(known, *at); !flag.empty())
            refuse(flag, " takes no value");
        const std::string name = name_of(*at);
        if (name.starts_with("--") && *at == name + "=" &&
            known.get_option_no_throw(name) != nullptr)
            refuse(name, " has no value after the =");
        const auto value = at + 1;
        if (takes_next_word(known, *at) && value != given.end() && *value != "--")
            at = value;
    }
}

} // namespace

bool parse(CLI::App& expected, arguments given, std::string_view help) {
    expected.set_help_flag("-h,--help");
    expected.allow_extras();
    reject_wrong_values(expected, given);
    std::ranges::reverse(given); // CLI11 reads the arguments from the end
    try {
        expected.parse(std::move(given));
        reject_unknown_option(expected);
        return true;
    } catch (const CLI::CallForHelp&) {
        std::cout << help;
        return false;
    } catch (const CLI::ParseError& wrong) {
        throw usage_error{mistake_in_words(wrong, expected) + "; see 'holdfast " +
                          expected.get_name() + " --help'"};
    }
}

void reject_surplus(const CLI::App& verb) {
    if (const arguments surplus = surplus_of(verb); !surplus.empty())
        throw usage_error{"'" + printable(surplus.front()) +
                          "' is an unexpected argument; see 'holdfast " + verb.get_name() +
                          " --help'"};
}

std::chrono::duration<double> parse_time(std::string_view option, std::string_view text) {
    struct unit {
        std::string_view name;
        double seconds;
    };
    constexpr std::array<unit, 6> units{
        {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"h", 3600}, {"d", 86'400}}};

    double number = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    const std::string_view rest{parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)};
    const auto found = std::ranges::find(units, rest, &unit::name);
    if (parsed.ec != std::errc{} || found == units.end() || !std::isfinite(number) || number < 0)
        throw usage_error{std::string{option} + ": '" + printable(text) +
                          "' is not a duration; give a number of seconds (30, 0.5), or a number "
                          "with a unit (500ms, 30s, 2m, 1h, 1d)"};
    return std::chrono::duration<double>{number * found->seconds};
}

void expect_time(CLI::App& expected, const std::string& names, std::string_view option,
                 std::optional<std::chrono::duration<double>>& into) {
    expected.add_option_function<std::string>(
        names, [&into, option](const std::string& text) { into = parse_time(option, text); });
}

void expect_lease(CLI::App& expected, std::optional<std::chrono::duration<double>>& into) {
    expected.add_option_function<std::string>("--lease", [&into](const std::string& text) {
        into = parse_time("--lease", text);
        if (*into < lease_min)
            throw usage_error{"--lease is too short: give 100ms or more"};
    });
}

void expect_number(CLI::App& expected, const std::string& names, std::string_view option,
                   std::uint64_t least, std::uint64_t most,
                   std::function<void(std::uint64_t)> take) {
    expected.add_option_function<std::string>(names, [=](const std::string& text) {
        std::uint64_t number = 0;
        const char* const end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data(), end, number);
        if (parsed.ec != std::errc{} || parsed.ptr != end || number < least || number > most)
            throw usage_error{std::string{option} + ": '" + printable(text) +
                              "' is not a whole number from " + std::to_string(least) + " to " +
                              std::to_string(most)};
        take(number);
    });
}

void require_name(const CLI::App& verb, const std::string& name, const std::string& what,
                  const std::string& form) {
    if (!name.empty())
        return;
    const bool is_given = verb.get_option("NAME")->count() > 0;
    throw usage_error{(is_given ? "the NAME of a " + what + " must not be empty"
                                : "the NAME of the " + what + " is missing") +
                      form};
}

void expect_replicas(CLI::App& expected, std::optional<unsigned>& into) {
    constexpr unsigned most = 100;
    expect_number(expected, "--replicas", "--replicas", 0, most,
                  [&into](std::uint64_t number) { into = static_cast<unsigned>(number); });
}

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
