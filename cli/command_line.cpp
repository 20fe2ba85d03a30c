// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include "cli/server/private_server.hpp"
#include "cli/terminal/say.hpp"
#include "cli/text/suggestion.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>

namespace cli {

split_arguments split_at_dashes(arguments all) {
    const auto dashes = std::ranges::find(all, "--");
    if (dashes == all.end())
        return {std::move(all), std::nullopt};
    return {{all.begin(), dashes}, arguments{dashes + 1, all.end()}};
}

namespace {

/// An option as it was given, without its value, which may be a password.
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

/// CLI11 gives the `--` back that ends the options.
arguments surplus_of(const CLI::App& verb) {
    arguments words = verb.remaining();
    if (const auto dashes = std::ranges::find(words, "--"); dashes != words.end())
        words.erase(dashes);
    return words;
}

/// The first surplus word, if it is an option. One behind another word may be a command's, which
/// the verb knows better.
void reject_unknown_option(const CLI::App& verb) {
    const arguments surplus = surplus_of(verb);
    if (surplus.empty() || !surplus.front().starts_with('-'))
        return;
    const std::string name = name_of(surplus.front());
    throw usage_error{"unknown option " + printable(name) +
                      advice_on(name, options_of(verb), verb.get_name())};
}

/// CLI11's words but for an option without its value, or with two: those are no sentence.
std::string mistake_in_words(const CLI::ParseError& wrong, const CLI::App& verb) {
    std::string all = wrong.what();
    const std::string option = all.substr(0, all.find(':'));
    const CLI::Option* const meant = verb.get_option_no_throw(option);
    if (meant == nullptr || wrong.get_name() != "ArgumentMismatch")
        return all;
    return option + (meant->count() > 1 ? " is given more than once" : " needs a value");
}

} // namespace

bool parse(CLI::App& expected, arguments given, std::string_view help) {
    expected.set_help_flag("-h,--help");
    expected.allow_extras();
    std::ranges::reverse(given); // CLI11 takes them from the back
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
                          "' is one word too many; see 'holdfast " + verb.get_name() + " --help'"};
}

std::chrono::duration<double> parse_time(std::string_view option, std::string_view text) {
    struct unit {
        std::string_view name;
        double seconds;
    };
    constexpr std::array<unit, 5> units{{{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"h", 3600}}};

    double number = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    const std::string_view rest{parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)};
    const auto found = std::ranges::find(units, rest, &unit::name);
    if (parsed.ec != std::errc{} || found == units.end() || !std::isfinite(number) || number < 0)
        throw usage_error{std::string{option} + ": '" + printable(text) +
                          "' is no length of time; give seconds (30, 0.5) or 500ms, 30s, 2m, 1h"};
    return std::chrono::duration<double>{number * found->seconds};
}

std::string server_url(const std::optional<std::string>& option) {
    const char* const environment = std::getenv("HOLDFAST_URL");
    std::string url = option ? *option : environment != nullptr ? environment : "";
    if (option && url.empty())
        throw usage_error{"--url is empty; give redis://HOST:PORT or unix:///PATH"};
    if (url.empty())
        return use_private_server();
    if (url.starts_with("memory:"))
        throw usage_error{"a memory: store lives inside one process, so its locks keep nobody out; "
                          "give the URL of a server"};
    return url;
}

std::string without_password(std::string url) {
    const std::size_t scheme_end = url.find("://");
    if (scheme_end == std::string::npos)
        return url;
    const std::size_t start = scheme_end + 3;
    const std::size_t at = url.substr(0, url.find_first_of("/?", start)).rfind('@');
    const std::size_t colon = url.find(':', start);
    if (at != std::string::npos && at > start && colon < at)
        url.replace(colon + 1, at - colon - 1, "***");
    return url;
}

} // namespace cli
