// SPDX-License-Identifier: Apache-2.0
#include "cli/look/looking.hpp"

#include <holdfast/token_mutex.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <iostream>
#include <utility>

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
        throw usage_error{"the name of a lock must not be empty" + see_help};
    return true;
}

namespace {

/// Default of `options::unavailable_timeout` for a single server. Behind Sentinels and in a
/// cluster, the default is longer.
constexpr std::chrono::seconds usual_outage{10};

} // namespace

void limit_outage(look_options& given,
                  const std::optional<std::chrono::duration<double>>& timeout) {
    if (timeout && *timeout < usual_outage)
        given.outage_within = std::chrono::ceil<holdfast::duration>(*timeout);
}

void print_list(const table& lines) {
    const bool is_cut = lines.print(std::cout, form_of(STDOUT_FILENO));
    std::cout.flush();
    if (is_cut)
        say("some names are cut; with -1 they are printed whole");
}

std::string what_server_did(const boost::system::error_code& failure) {
    if (failure == holdfast::errc::refused)
        return "refused";
    if (failure == holdfast::store_errc::not_replicated)
        return "replied, but its replicas did not confirm";
    return "did not answer";
}

holdfast::duration outage_timeout(const look_options& given) {
    constexpr std::chrono::duration<double> longest = std::chrono::hours{24 * 366};
    if (const auto of_url = time_in(given.server, "unavailable_timeout"))
        return std::chrono::ceil<holdfast::duration>(std::min(*of_url, longest));
    return given.outage_within.value_or(usual_outage);
}

bool is_answered_yes() {
    std::string answer;
    if (std::getline(std::cin, answer))
        return answer == "y" || answer == "Y" || answer == "yes";
    std::cerr << '\n'; // Ctrl-D leaves the cursor behind the question
    return false;
}

possible_counters possible_counters_of(holdfast::client& home, const std::string& name) {
    using holdfast::counter_kind;
    constexpr std::pair<counter_kind, const char*> all[] = {{counter_kind::rate, "rate"},
                                                            {counter_kind::permits, "permits"},
                                                            {counter_kind::latch, "latch"},
                                                            {counter_kind::semaphore, "semaphore"}};
    possible_counters possible;
    for (const auto& [kind, word] : all) {
        try {
            const holdfast::counter_state found = home.inspect({name}, kind);
            if (!found.exists)
                continue;
            possible.types += (possible.types.empty() ? "" : "|") + std::string{word};
            if (kind == counter_kind::rate || found.taken > 0)
                break; // no other kind has such keys
            if (kind == counter_kind::permits)
                possible.number = found.value;
        } catch (const boost::system::system_error&) {
            continue; // the key has another type, or the store does not support this type
        }
    }
    return possible;
}

std::string no_lock_in_words(holdfast::client& home, const holdfast::lock_state& found) {
    const std::string names = possible_counters_of(home, found.name).types;
    const std::string what = "'" + printable(found.name) + "' is not a lock but a ";
    if (names.empty())
        return what + printable(found.type);
    if (names.find('|') == names.npos)
        return what + "counter: see 'holdfast inspect --type " + names + "'";
    return what + "number, which may be a counter: see 'holdfast inspect --type " + names + "'";
}

std::string objection_to_taking_away(const holdfast::lock_state& lock, bool is_token) {
    const bool is_string_of_lock = is_token && lock.type == "string";
    if (lock.kind == holdfast::key_kind::other && !is_string_of_lock)
        return "is not a lock but a " + printable(lock.type);
    if (!lock.is_held || is_string_of_lock)
        return {};
    if (is_token)
        return "is not a lock of redis-py, redsync or node-redlock";
    const bool seems_token = lock.kind == holdfast::key_kind::token_lock;
    const bool is_ours = lock.owners.size() == 1 && lock.owners.front().is_holdfast;
    if (!seems_token || is_ours)
        return {};
    return "is a string of another program. If the string is a lock of redis-py, redsync or "
           "node-redlock, and not data, give --type token";
}

bool take_away(holdfast::client& home, const std::string& name, const holdfast::lock_state& shown) {
    if (shown.kind == holdfast::key_kind::other) // it is a string that may be removed
        return holdfast::token_mutex{home, {name}}.force_unlock();
    if (shown.owners.empty()) // the list of owners was too long for the reply
        return home.force_unlock(name);
    return std::ranges::any_of(shown.owners, [&](const holdfast::lock_owner& each) {
        return home.force_unlock(name, each.text);
    });
}

} // namespace cli
