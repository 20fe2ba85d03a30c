// SPDX-License-Identifier: Apache-2.0
// `holdfast inspect`: all about one lock.
#include "cli/exit_status.hpp"
#include "cli/look/lock_json.hpp"
#include "cli/look/lock_words.hpp"
#include "cli/look/looking.hpp"
#include "cli/terminal/say.hpp"
#include "cli/verbs.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <iomanip>
#include <iostream>

namespace cli {
namespace {

using holdfast::key_kind;
using holdfast::lock_state;

constexpr std::string_view inspect_help =
    R"(Prints all that is known of one lock. Its holder may be a holdfast program or a
JVM with Redisson.

Usage: holdfast inspect [OPTIONS] NAME

      --json           for programs: {"name", "held", "kind", "type", "owners":
                       [{"owner", "count", "is_holdfast", "client": {"host",
                       "pid", "program", "label", "since"}}], "lease_left_ms",
                       "listeners", "last_token"}; a value is null if it is not
                       known, or if the lease has no end; the token is the
                       greatest that a fenced lock has given, as a number, and
                       null if there is none
      --url URL        the server, as for 'holdfast run'
  -h, --help           print this text

Exit status:
    0   the lock is held
    1   the lock is free
   64   the command line or a variable is wrong
   65   the server has something else under that name, which is no lock
   69   the server cannot be reached, or refuses

Examples:
  holdfast inspect nightly-report
  holdfast inspect --json nightly-report | jq -r '.owners[0].client.host'
)";

void print_line(const char* what, const std::string& value) {
    constexpr int width = 11;
    std::cout << std::left << std::setw(width) << what << printable(value, value.size()) << '\n';
}

void print_lines(const lock_state& lock) {
    print_line("name", lock.name);
    if (lock.kind == key_kind::other)
        return print_line("kind", "no lock that is known here, but a " + lock.type);
    print_line("kind", to_string(lock.kind));
    for (const holdfast::lock_owner& each : lock.owners) {
        print_line("held by", owner_in_words(each));
        print_line("owner", each.text);
    }
    if (lock.owners.empty())
        print_line("held by", "more than can be told");
    print_line("lease left", left_in_words(lock.remaining));
    if (lock.last_token != 0)
        print_line("last token", std::to_string(lock.last_token));
    print_line("listening", lock.listeners ? std::to_string(*lock.listeners) +
                                                 " connection(s) wait for its release"
                                           : "not known: this user may not ask");
}

int status_of(const std::optional<lock_state>& found) {
    if (!found)
        return is_free;
    return found->kind == key_kind::other ? no_lock : success;
}

} // namespace

int inspect(const inheritance& inherited, arguments all) {
    look_options given;
    CLI::App expected{"", "inspect"};
    if (!parse_look(expected, given, lock_word::required, std::move(all), inspect_help))
        return success;

    return ask_server(inherited, given, [&](holdfast::client& home) {
        const std::optional<lock_state> found = home.inspect(given.name);
        if (given.json) {
            boost::json::object told = found ? to_json(*found) : named(given.name);
            told["held"] = status_of(found) == success;
            write_json(told);
        } else if (found) {
            print_lines(*found);
        } else {
            std::cout << "'" << printable(given.name) << "' is free\n";
        }
        return status_of(found);
    });
}

} // namespace cli
