// SPDX-License-Identifier: Apache-2.0
#include "cli/look/looking.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <iostream>

namespace cli {

void expect_server(CLI::App& verb, look_options& given) {
    verb.add_flag("--json", given.json);
    verb.add_option("--url", given.urls)->allow_extra_args(false);
}

bool parse_look(CLI::App& verb, look_options& given, lock_word word, arguments all,
                std::string_view help) {
    expect_server(verb, given);
    if (word != lock_word::none)
        verb.add_option("NAME", given.name);
    if (!parse(verb, std::move(all), help))
        return false;
    reject_surplus(verb);
    const std::string see_help = "; see 'holdfast " + verb.get_name() + " --help'";
    if (word == lock_word::required && given.name.empty())
        require_name(verb, given.name, "lock", see_help);
    if (word == lock_word::optional && given.name.empty())
        throw usage_error{"no lock has an empty name" + see_help};
    return true;
}

bool is_answered_yes() {
    std::string answer;
    return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

std::string objection_to_taking_away(const holdfast::lock_state& lock, bool is_token) {
    if (lock.kind == holdfast::key_kind::other)
        return "is no lock, but a " + printable(lock.type);
    if (!lock.is_held)
        return {};
    const bool seems_token = lock.kind == holdfast::key_kind::token_lock;
    if (is_token && !seems_token)
        return "is no lock of redis-py, redsync or node-redlock";
    const bool is_ours = lock.owners.size() == 1 && lock.owners.front().is_holdfast;
    if (is_token || !seems_token || is_ours)
        return {};
    return "is a string of another program's: if it is a lock of redis-py, redsync or "
           "node-redlock, and not that program's data, give --type token";
}

} // namespace cli
