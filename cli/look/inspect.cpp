// SPDX-License-Identifier: Apache-2.0
// `holdfast inspect`: prints the complete state of one lock.
#include "cli/command_line.hpp"
#include "cli/count/counters.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/looking.hpp"
#include "cli/look/quorum.hpp"
#include "cli/terminal/output.hpp"

#include <holdfast/fenced_mutex.hpp>

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
    R"(Prints all information about one lock: its holders, and the programs that wait
for it. These can be holdfast programs, or JVMs with Redisson, and on ZooKeeper
also programs with Curator or kazoo.

Usage: holdfast inspect [OPTIONS] NAME

      --json           for programs: {"name", "held", "kind", "type", "owners":
                       [{"owner", "count", "writes", "lease_left_ms",
                       "held_since", "held_ms", "is_holdfast", "client":
                       {"host", "pid", "program", "label", "since"}}],
                       "lease_left_ms", "listeners", "token", "last_token",
                       "waiting", "reported_waiting", "waiters": [{"owner",
                       "place_left_ms", "listens", "registered", "wants",
                       "waiting_since", "waiting_ms", "timeout_left_ms",
                       "is_holdfast", "client"}]}; a value is null if it is not
                       known, or if the lease has no end; on ZooKeeper no lease
                       is known, because only the holder knows how long its
                       session lasts; "token" is the number of the present
                       hold, if the store gives a number to each hold (MySQL,
                       ZooKeeper); "last_token" is the greatest token that a
                       fenced lock has given; on ZooKeeper, for a free lock, a
                       number that no token of it has exceeded; "registered" is
                       false if the lock has no entry of a waiter, and only the
                       waiting program reports it; "reported_waiting" is the
                       number of these waiters, of which "waiters" has the
                       oldest 100
      --type TYPE      NAME is not a lock but a 'semaphore', 'permits' (with
                       leases, as with --slots), a 'latch' or a 'rate'. On the
                       server, most of these are plain numbers, which could
                       belong to any program. For programs {"name", "kind",
                       "exists", "count", "listeners"}; permits also have
                       "taken", a rate has "rate": {"permits", "per_ms",
                       "per_client", "kept_ms"}
      --url URL        the server, as for 'holdfast run'. For a quorum, the
                       reply of each node is printed, and whether a majority has
                       the lock; for programs {"name", "held", "majority",
                       "nodes": [{"server", "reached", "held", "lock",
                       "failure"}]}
  -h, --help           print this text

For a shared lock, each holder is printed with the rest of its own lease.
Waiting programs are printed if the server knows them: programs in the queue of
a fair lock, of which "next" is the first, and holdfast's writers that wait for
a shared lock. If a program in the queue does not listen, it may be dead. The
queue removes its place when the time of the place is over. On Redis, holdfast
programs also report what they have held or waited for during more than a
second. So the times of these holds and waits are printed, and all programs that
wait ("waits"). Waiting programs of Redisson only listen for the release.

Exit status:
    0   the lock is held; there is such a semaphore, latch or rate
    1   the lock is free; there is none
   64   the command line or a variable is wrong
   65   the server has something else under that name, which is no lock
   69   the server cannot be reached, or refuses the request

Examples:
  holdfast inspect nightly-report
  holdfast inspect --type semaphore seats
  holdfast inspect --json nightly-report | jq -r '.owners[0].client.host'
  holdfast inspect --json desk | jq '.waiters | length'
)";

void print_line(std::ostream& out, const char* what, const std::string& value) {
    constexpr int width = 11;
    out << std::left << std::setw(width) << what << printable(value, value.size()) << '\n';
}

void print_owners(std::ostream& out, const lock_state& lock) {
    for (const holdfast::lock_owner& each : lock.owners) {
        print_line(out, "held by", owner_in_words(each));
        print_line(out, "owner", each.text);
    }
    if (!lock.is_held)
        print_line(out, "held by", "nobody; the next waiting program may take it");
    else if (lock.owners.empty())
        print_line(out, "held by", "more readers than can be listed");
}

void print_waiters(std::ostream& out, const lock_state& lock) {
    const bool in_order = lock.kind == key_kind::lock;
    const char* what = in_order ? "next" : "to write";
    std::size_t told = 0;
    for (const holdfast::lock_waiter& each : lock.waiters) {
        if (!each.registered)
            continue;
        ++told;
        print_line(out, what, waiter_in_words(each));
        if (in_order)
            what = "then";
    }
    if (lock.waiting.value_or(told) > told)
        print_line(out, what, std::to_string(*lock.waiting - told) + " more");
    std::size_t reported = 0;
    for (const holdfast::lock_waiter& each : lock.waiters) {
        if (each.registered)
            continue;
        ++reported;
        print_line(out, "waits", waiter_in_words(each));
    }
    if (lock.reported_waiting > reported)
        print_line(out, "waits", std::to_string(lock.reported_waiting - reported) + " more");
}

} // namespace

void print_lock(std::ostream& out, const lock_state& lock) {
    print_line(out, "name", lock.name);
    if (lock.kind == key_kind::other)
        return print_line(out, "kind", "not a known kind of lock, but a " + lock.type);
    print_line(out, "kind", kind_in_words(lock));
    print_owners(out, lock);
    if (lock.is_held)
        print_line(out, "lease left", left_in_words(lock));
    if (lock.is_held && ends_with_session(lock))
        print_line(
            out, "",
            "only the holder knows how long its session lasts; ZooKeeper does not report it");
    if (lock.token != 0)
        print_line(out, "token", std::to_string(lock.token));
    if (lock.last_token != 0)
        print_line(out, "last token", std::to_string(lock.last_token));
    print_waiters(out, lock);
    print_line(out, "listening",
               lock.listeners
                   ? std::to_string(*lock.listeners) + " connection(s) wait for its release"
               : lock.type == "row" ? "not known: a database does not count them"
                                    : "not known: this user has no right to ask");
}

namespace {

/// If the key may be a counter, prints the command that shows the counter's state.
void print_counter_hint(holdfast::client& home, const lock_state& found) {
    const possible_counters counters = possible_counters_of(home, found.name);
    if (counters.types.empty())
        return;
    print_line(std::cout, "see", "holdfast inspect --type " + counters.types + " NAME");
    if (!counters.number || counters.types.find('|') == counters.types.npos)
        return;
    const bool may_be_free = *counters.number > 0;
    print_line(std::cout, "number",
               std::to_string(*counters.number) + ": a semaphore, slots" +
                   (may_be_free ? " that are all free" : "") + ", or a latch");
    if (may_be_free)
        return;
    print_line(std::cout, "", "if they are slots, their holders were lost, and no slot is left:");
    print_line(std::cout, "", "to delete them: holdfast unlock --force --type permits NAME");
}

/// Returns the last token of a fenced lock that is free. Returns 0 if there was no token, or if
/// this user may not read the token.
std::uint64_t last_token_of(holdfast::client& home, const std::string& name) {
    try {
        return holdfast::fenced_mutex{home, name}.last_token();
    } catch (const boost::system::system_error&) {
        return 0;
    }
}

int status_of(const std::optional<lock_state>& found) {
    if (!found || !found->is_held)
        return is_free;
    return found->kind == key_kind::other ? no_lock : success;
}

} // namespace

int inspect(const inheritance& inherited, arguments all) {
    look_options given;
    std::string type;
    CLI::App expected{"", "inspect"};
    expected.add_option("--type", type);
    if (!parse_look(expected, given, lock_word::required, std::move(all), inspect_help))
        return success;
    const std::optional<holdfast::counter_kind> counter = counter_type(type);
    if (!type.empty() && !counter)
        throw usage_error{"--type: '" + printable(type) + "' is not a type; give " +
                          counter_types()};

    if (!counter && asks_quorum(given))
        return inspect_quorum(given);
    return ask_server(inherited, given, [&](holdfast::client& home) {
        if (counter)
            return inspect_counter(home, given, *counter);
        std::optional<lock_state> found =
            answer_of_server([&] { return home.inspect(given.name); });
        if (found)
            found->name = given.name; // without the prefix of the URL
        if (given.json) {
            write_json(found ? to_json(*found)
                             : free_in_json(given.name, last_token_of(home, given.name)));
        } else if (found) {
            print_lock(std::cout, *found);
            if (found->kind == key_kind::other)
                print_counter_hint(home, *found);
        } else {
            std::cout << "'" << printable(given.name) << "' is free\n";
        }
        return status_of(found);
    });
}

} // namespace cli
