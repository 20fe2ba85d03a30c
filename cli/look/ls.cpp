// SPDX-License-Identifier: Apache-2.0
// `holdfast ls`: the locks that are held.
#include "cli/exit_status.hpp"
#include "cli/look/lock_json.hpp"
#include "cli/look/lock_words.hpp"
#include "cli/look/looking.hpp"
#include "cli/terminal/say.hpp"
#include "cli/text/table.hpp"
#include "cli/verbs.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>

#include <iostream>

#include <unistd.h>

namespace cli {
namespace {

using holdfast::key_kind;
using holdfast::lock_list;
using holdfast::lock_state;

constexpr std::string_view ls_help =
    R"(Lists the locks that are held, by whom, and for how long still: those of
holdfast and of Redisson. Looks at a few hundred keys at a time, so nobody has
to wait for it.

Usage: holdfast ls [OPTIONS] [PATTERN]

  PATTERN              only names that match: * any letters, ? one, [a-z] one of
                       these (quote it)
  -1, --names          the names alone, one a line
      --limit N        no more than N locks (default 1000)
      --json           for programs: {"locks": [...], "complete": true}; each
                       lock as with 'holdfast inspect --json'
      --url URL        the server, as for 'holdfast run'
  -h, --help           this text

A lock does not say since when it is held; SINCE is when its holder, a holdfast
client, was started. LEFT is what is left of its lease, which its holder renews.
LISTENING counts the connections that wait for its release. Locks that this user
may not read are left out.

Exit status:
    0   it was listed, all or (said on stderr) a part of it
   64   the command line is wrong
   69   the server cannot be reached, or refuses

Examples:
  holdfast ls
  holdfast ls 'shop:*'
  holdfast ls --json | jq -r '.locks[] | select(.listeners > 0) | .name'
)";

std::string since(const lock_state& lock) {
    if (lock.owners.empty() || !lock.owners.front().client)
        return "-";
    return date_in_short(lock.owners.front().client->since);
}

void print_table(const lock_list& all) {
    table lines{{{"NAME", true}, {"KIND"}, {"HELD BY", true}, {"SINCE"}, {"LEFT"}, {"LISTENING"}}};
    for (const lock_state& each : all.locks)
        lines.add({each.name, each.kind == key_kind::lock ? "lock" : "rw lock",
                   owners_in_short(each), since(each), left_in_words(each.remaining),
                   each.listeners ? std::to_string(*each.listeners) : "?"});
    if (!all.locks.empty())
        lines.print(std::cout, form_of(STDOUT_FILENO));
    else if (::isatty(STDERR_FILENO) == 1)
        say("no lock is held");
}

/// As they are, for whatever reads them; but a terminal would obey some.
void print_names(const lock_list& all) {
    const bool raw = ::isatty(STDOUT_FILENO) != 1;
    for (const lock_state& each : all.locks)
        std::cout << (raw ? each.name : printable(each.name, each.name.size())) << '\n';
}

void print_json(const lock_list& all) {
    boost::json::array locks;
    for (const lock_state& each : all.locks)
        locks.push_back(to_json(each));
    write_json(boost::json::object{{"locks", std::move(locks)}, {"complete", all.complete}});
}

} // namespace

int ls(const inheritance& inherited, arguments all) {
    look_options given;
    given.name = "*";
    bool names = false;
    std::size_t limit = 1000;
    CLI::App expected{"", "ls"};
    expected.add_flag("-1,--names", names);
    expected.add_option("--limit", limit)->check(CLI::Range(1, 1'000'000));
    if (!parse_look(expected, given, lock_word::optional, std::move(all), ls_help))
        return success;
    if (given.json && names)
        throw usage_error{"--json and --names exclude each other"};

    return ask_server(inherited, given, [&](holdfast::client& home) {
        const lock_list found = home.list(given.name, limit);
        given.json ? print_json(found) : names ? print_names(found) : print_table(found);
        if (!found.complete)
            say("these are not all: there is more than " + std::to_string(limit) +
                " locks, or the server has many millions of keys; give a PATTERN or --limit");
        return success;
    });
}

} // namespace cli
