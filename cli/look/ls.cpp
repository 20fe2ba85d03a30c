// SPDX-License-Identifier: Apache-2.0
// `holdfast ls`: lists held locks and counters.
#include "cli/command_line.hpp"
#include "cli/count/counters.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/looking.hpp"
#include "cli/look/quorum.hpp"
#include "cli/terminal/output.hpp"
#include "cli/text/text.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>

#include <algorithm>
#include <iostream>
#include <utility>

#include <unistd.h>

namespace cli {
namespace {

using holdfast::key_kind;
using holdfast::lock_list;
using holdfast::lock_state;

constexpr std::string_view ls_help =
    R"(Lists the held locks, their holders, and how long their leases still last. Locks
of Redisson are listed too. A lock of redis-py or a similar library is listed
only while a holdfast program holds it, because the values of these libraries
look like any text. After the locks come semaphores with leases ('permits', as
with --slots) of which some are held, and rate limiters ('rate'), if the store
has them. This program asks the server for a few hundred keys at a time, so that
other clients of the server do not have to wait.

Usage: holdfast ls [OPTIONS] [PATTERN]

  PATTERN              list only names that match: * is any text, ? is any byte,
                       [a-z] is one of these bytes, [^a-z] or [!a-z] is one
                       other byte, and a byte after \ has no special meaning. A
                       letter outside ASCII has several bytes. Put the PATTERN
                       in quotes
  -1, --names          print only the names, one per line; without --type, print
                       only the names of locks
      --limit N        list at most N locks, N permits and N rates (default
                       1000)
      --type TYPE      list only 'permits', 'rate', 'semaphore' or 'latch'
                       instead of locks. 'permits' are listed only while some
                       are held, on every store. On Redis, a semaphore and a
                       latch are plain numbers, so each number is listed for
                       both types. For programs: {"counters": [...], "complete",
                       "server"}
      --json           for programs: {"locks": [...], "counters": [...],
                       "complete": true, "server": ...}; each element is an
                       object as printed by 'holdfast inspect --json', with
                       --type TYPE if it is a counter. "unreachable" names the
                       servers of a cluster that could not be asked, if there
                       are any
      --url URL        the server, as for 'holdfast run'. In a quorum, all nodes
                       are asked; NODES is the number of nodes that hold the
                       lock. For programs: {"locks": [...], "complete", "nodes",
                       "majority", "unreachable"}; each lock has its "nodes",
                       too
  -h, --help           print this text

SINCE is the time at which the holder, a holdfast program, was started. HELD is
how long the holder has had the lock, and WAITED how long a program has waited
for it; for several programs, the longest time. On Redis, holdfast programs
report these times when they exceed a second. LEFT is the rest of the lease,
which the holder renews; for a shared lock, it is the rest of the longest lease.
LISTENING is the number of connections that wait for the release; for a fair
lock, it is the number of connections of the first waiting program. 'holdfast
inspect' shows each waiting program. For permits and rates, HELD BY says how
many permits are left. Data that this user has no right to read is left out. In
a cluster, all servers are asked; if a server cannot be reached, stderr says so.
On a terminal, the number of locks and the server are printed at the end.

Exit status:
    0   the list was printed; if it is not complete, stderr says so
   64   the command line or a variable is wrong
   69   the server cannot be reached, or refuses the request

Examples:
  holdfast ls
  holdfast ls 'shop:*'
  holdfast ls --type permits
  holdfast ls --json | jq -r '.locks[] | select(.listeners > 0) | .name'
)";

std::string since(const lock_state& lock) {
    if (lock.owners.empty() || !lock.owners.front().client)
        return "-";
    return date_in_short(lock.owners.front().client->since);
}

/// Prints the URL of the server if stderr is a terminal: an operator may use several servers.
void tell_server(const lock_list& all, const std::string& server) {
    if (::isatty(STDERR_FILENO) != 1)
        return;
    const std::string where = " on " + server_in_words(server);
    say(all.locks.empty() ? "no lock is held" + where : how_many(all.locks.size(), "lock") + where);
}

/// Returns whether a client has reported how long a lock was held or waited for.
bool has_times(const lock_list& all) {
    return std::ranges::any_of(
        all.locks, [](const lock_state& each) { return longest_hold(each) || longest_wait(each); });
}

/// Prints the locks and the counters. To save space, leaves out the columns HELD and WAITED if they
/// would be empty.
void print_table(const lock_list& all, const known_counters& counted) {
    constexpr std::size_t name_least = 16, holder_least = 8;
    const bool with_times = has_times(all);
    std::vector<table::column> columns{
        {"NAME", name_least}, {"KIND"}, {"HELD BY", holder_least}, {"SINCE"}, {"LEFT"},
        {"LISTENING"}};
    if (with_times)
        columns.insert(columns.end(), {{"HELD"}, {"WAITED"}});
    table lines{std::move(columns)};
    const auto add = [&](std::vector<std::string> cells, std::string held, std::string waited) {
        if (with_times)
            cells.insert(cells.end(), {std::move(held), std::move(waited)});
        lines.add(std::move(cells));
    };
    for (const lock_state& each : all.locks)
        add({each.name, each.kind == key_kind::read_write_lock ? "rw lock" : kind_in_words(each),
             owners_in_short(each), since(each), left_in_words(each),
             each.listeners ? std::to_string(*each.listeners) : "?"},
            or_dash(longest_hold(each)), or_dash(longest_wait(each)));
    for (const known_counters::entry& each : counted.counters)
        add({each.name, word_of(each.kind), state_in_words(each.kind, each.state), "-", "-",
             listeners_in_words(each.kind, each.state)},
            "-", "-");
    if (!all.locks.empty() || !counted.counters.empty())
        print_list(lines);
    std::cout.flush();
}

/// Prints the names on stdout. On a terminal, escapes control characters. On any other output,
/// prints the names unchanged.
void print_names(const lock_list& all) {
    const bool raw = ::isatty(STDOUT_FILENO) != 1;
    for (const lock_state& each : all.locks)
        std::cout << (raw ? each.name : printable(each.name, each.name.size())) << '\n';
}

/// Returns the servers that could not be asked for locks or for counters.
const std::vector<std::string>& unreachable(const lock_list& all, const known_counters& counted) {
    return all.unreachable.empty() ? counted.unreachable : all.unreachable;
}

void print_json(const lock_list& all, const known_counters& counted, const std::string& server) {
    boost::json::array locks;
    for (const lock_state& each : all.locks)
        locks.push_back(to_json(each));
    boost::json::array counters;
    for (const known_counters::entry& each : counted.counters) {
        boost::json::object told = named(each.name);
        add_to_json(told, each.kind, each.state);
        counters.push_back(std::move(told));
    }
    boost::json::object told{{"locks", std::move(locks)},
                             {"counters", std::move(counters)},
                             {"complete", all.complete && counted.complete},
                             {"server", text_in_json(without_password(server))}};
    add_unreachable(told, unreachable(all, counted));
    write_json(told);
}

} // namespace

int ls(const inheritance& inherited, arguments all) {
    look_options given;
    given.name = "*";
    bool names = false;
    std::size_t limit = 1000;
    std::string type;
    CLI::App expected{"", "ls"};
    expected.add_flag("-1,--names", names);
    expect_number(expected, "--limit", "--limit", 1, 1'000'000,
                  [&limit](std::uint64_t number) { limit = static_cast<std::size_t>(number); });
    expected.add_option("--type", type);
    if (!parse_look(expected, given, lock_word::optional, std::move(all), ls_help))
        return success;
    if (given.json && names)
        throw usage_error{"--json and --names cannot be used together"};

    const std::optional<holdfast::counter_kind> counter = counter_type(type);
    if (!type.empty() && !counter)
        throw usage_error{"--type: '" + printable(type) + "' is not a type; give " +
                          counter_types()};

    if (!counter && asks_quorum(given))
        return list_quorum(given, names, limit);
    return ask_server(inherited, given, [&](holdfast::client& home) {
        if (counter)
            return int{list_counters(home, given, *counter, limit, names)};
        lock_list found = answer_of_server([&] { return home.list(given.name, limit); });
        const std::string prefix = prefix_of(given.server);
        for (lock_state& each : found.locks)
            each.name = without_prefix(std::move(each.name), prefix);
        const known_counters counted =
            names ? known_counters{} : find_known_counters(home, given, limit);
        if (given.json) {
            print_json(found, counted, given.server);
        } else if (names) {
            print_names(found);
        } else {
            print_table(found, counted);
            tell_server(found, given.server);
        }
        if (!found.complete || !counted.complete)
            tell_incomplete(found.complete ? "counter" : "lock", limit,
                            unreachable(found, counted));
        return int{success};
    });
}

} // namespace cli
