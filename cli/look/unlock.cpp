// SPDX-License-Identifier: Apache-2.0
// `holdfast unlock --force`: removes a lock from its holder.
#include "cli/command_line.hpp"
#include "cli/count/counters.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/looking.hpp"
#include "cli/look/quorum.hpp"
#include "cli/terminal/output.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <iostream>

#include <unistd.h>

namespace cli {
namespace {

using holdfast::lock_state;

constexpr std::string_view unlock_help =
    R"(Removes a lock from its holder, or from all its holders if it is shared. Then
wakes the programs that wait for it; for a fair lock, wakes the next program in
its queue. The holder is not stopped: it learns at its next renewal that the
lock is lost. Until then, it may work at the same time as the next holder. If
the holder is dead, it is safer to wait until its lease ends ('holdfast wait').
If another program has taken the lock meanwhile, that program keeps the lock.

Usage: holdfast unlock --force [OPTIONS] NAME

      --force          required, because only the holder of a lock can release
                       it safely
      --type TYPE      'token': NAME is a lock of redis-py, redsync or
                       node-redlock. 'semaphore', 'permits' (with leases, as
                       with --slots), 'latch' or 'rate': NAME is one of these,
                       and is deleted. On the server, all these are strings or
                       numbers, which could be the data of any program
  -y, --yes            do not ask; required if there is no terminal
      --json           for programs: {"name", "released", "was"}; "was" is an
                       object as printed by 'holdfast inspect --json', or null
      --url URL        the server, as for 'holdfast run'. On a quorum, the lock
                       is removed on all nodes, also from holders without a
                       majority; for programs {"name", "released",
                       "released_nodes", "majority", "was": [...]}, by node
  -h, --help           print this text

Exit status:
    0   the lock was held, and is released; or the object of that type is
        deleted
    1   the lock was free, there is nothing of that type, or you answered no
   64   the command line or a variable is wrong
   65   the server has something else under that name, which is no lock, or
        a string that may be none
   69   the server cannot be reached, or refuses the request

Examples:
  holdfast unlock --force nightly-report
  holdfast unlock --force --yes nightly-report   # in a script
)";

std::string holders_of(const lock_state& lock) {
    std::string all;
    for (const holdfast::lock_owner& each : lock.owners)
        all += "  " + printable(owner_in_words(each), 500) + "\n";
    if (all.empty())
        return lock.type == "string" ? "  another program\n"
                                     : "  more readers than can be listed\n";
    return all;
}

bool confirmed(const lock_state& lock) {
    std::cerr << "'" << printable(lock.name) << "' is held by\n"
              << holders_of(lock) << "It may still be working. Take the lock away? [y/N] "
              << std::flush;
    return is_answered_yes();
}

std::string whose_it_was(const lock_state& lock) {
    return lock.owners.size() == 1 ? "that holder does not have it any more"
                                   : "those holders do not have it any more";
}

} // namespace

int unlock(const inheritance& inherited, arguments all) {
    look_options given;
    bool force = false, yes = false;
    std::string type;
    CLI::App expected{"", "unlock"};
    expected.add_flag("--force", force);
    expected.add_flag("-y,--yes", yes);
    expected.add_option("--type", type);
    if (!parse_look(expected, given, lock_word::required, std::move(all), unlock_help))
        return success;
    if (!force)
        throw usage_error{"only its holder can release a lock; --force takes it away from whoever "
                          "holds it: holdfast unlock --force NAME"};
    const std::optional<holdfast::counter_kind> counter = counter_type(type);
    if (!type.empty() && type != "token" && !counter)
        throw usage_error{"--type: '" + printable(type) + "' is not a type; give token, " +
                          counter_types()};
    if (!yes && ::isatty(STDIN_FILENO) != 1)
        throw usage_error{
            "there is no terminal where you could confirm this; to confirm it, give --yes"};

    if (!counter && asks_quorum(given))
        return unlock_quorum(given, yes, !type.empty());
    if (type == "token" && given.server.empty())
        given.server = server_urls(given.urls);
    if (type == "token" && !is_on_redis(given.server))
        throw usage_error{
            "--type token: this store has no token locks; Redis and Valkey have them"};
    return ask_server(inherited, given, [&](holdfast::client& home) -> int {
        if (counter)
            return erase_counter(home, given, *counter, yes);
        std::optional<lock_state> found = answer_of_server(
            [&] { return home.inspect(given.name, holdfast::lock_details::stored); });
        if (found)
            found->name = given.name; // without the prefix of the URL
        const std::string objection =
            found ? objection_to_taking_away(*found, !type.empty()) : std::string{};
        const bool is_lock = found && found->is_held && objection.empty();
        if (is_lock && !yes && !confirmed(*found)) {
            say("nothing was changed");
            return left_alone;
        }
        const bool released =
            is_lock && answer_of_server([&] { return take_away(home, given.name, *found); });
        if (given.json) {
            boost::json::object told = named(given.name);
            told["released"] = released;
            told["was"] = is_lock ? boost::json::value(to_json(*found)) : nullptr;
            write_json(told);
        } else if (!objection.empty()) {
            say(found->kind == holdfast::key_kind::other
                    ? no_lock_in_words(home, *found)
                    : "'" + printable(given.name) + "' " + objection);
        } else if (!released) {
            say("'" + printable(given.name) +
                (is_lock ? "' was released meanwhile: " + whose_it_was(*found) : "' was free"));
        }
        if (!objection.empty())
            return no_lock;
        return released ? success : is_free;
    });
}

} // namespace cli
