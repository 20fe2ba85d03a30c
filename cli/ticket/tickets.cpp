// SPDX-License-Identifier: Apache-2.0
// `holdfast take`, `holdfast renew` and `holdfast give`: a lock that stays held after the program
// has ended, until its lease ends. A ticket identifies the hold.
#include "cli/command_line.hpp"
#include "cli/descriptor.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/looking.hpp"
#include "cli/server/server_access.hpp"
#include "cli/terminal/output.hpp"
#include "cli/ticket/keeper.hpp"

#include <holdfast/client.hpp>
#include <holdfast/fenced_mutex.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/ticket.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <future>
#include <iostream>
#include <limits>
#include <optional>
#include <system_error>

namespace cli {
namespace {

using length = std::chrono::duration<double>;

constexpr std::string_view take_help =
    R"(Takes a lock, prints a ticket and ends. The lock stays held until its lease
ends, or until somebody gives the ticket back. So a lock can be held from one
step of a CI job to the next, or for a deploy freeze. The ticket is one line.
Everybody who has the ticket can release the lock.

Usage: holdfast take [OPTIONS] NAME

  -w, --wait TIME      wait at most this long if the lock is busy (0.5, 30, 2m;
                       0: do not wait); without it, wait for ever
      --lease TIME     how long the lock stays held (default 10m, at least
                       100ms). 'holdfast renew' makes this time longer
      --fenced         reserve a fencing token for the holder. It is in the
                       output of --json; see 'holdfast run --help'
      --reason TEXT    why the lock is taken; 'holdfast inspect' and
                       'holdfast ls' show this text. They show it for at least
                       the time of --lease, also if the lock is released
      --while PID      leave a process behind on this machine that renews the
                       lock until the process PID ends. Then it gives the ticket
                       back
      --json           for programs: {"name", "ticket", "token", "lease_ms"};
                       without --fenced, "token" is null. If the lock is busy,
                       all except "name" are null
      --url URL        the server, as for 'holdfast run'. It must be one server
                       on Redis, Valkey, MySQL or MariaDB. On ZooKeeper, a lock
                       ends with its client, so there are no tickets
  -h, --help           print this text

Exit status:
    0   the lock is held
    1   the lock was not free within -w
   64   the command line or a variable is wrong
   65   the server has something else under that name, which is no lock
   69   the server cannot be reached, or refuses the request
   71   the process for --while could not be started

Examples:
  TICKET=$(holdfast take --lease 30m deploy) && echo "$TICKET" > ticket
  holdfast give - < ticket
  holdfast take --lease 2d --reason 'release 4.2, ask Ann' deploy
  holdfast take --while $$ nightly-report
)";

constexpr std::string_view renew_help =
    R"(Renews the lock of a ticket. The lock then stays held at least for the given
time from now; the time is never shortened.

Usage: holdfast renew [OPTIONS] TICKET

  TICKET is the text that 'holdfast take' has printed. '-' means that the ticket
  is read from standard input, so that other users cannot see it in the list of
  processes.

      --lease TIME     how long the lock stays held from now (default 10m, at
                       least 100ms)
      --json           for programs: {"name", "renewed", "lease_ms"}; "name" is
                       the name on the server, with the prefix
      --url URL        the server, as for 'holdfast take'
  -h, --help           print this text

Exit status:
    0   the lock is still held
   64   the ticket, the command line or a variable is wrong
   69   the server cannot be reached, or refuses the request
   75   the lock of the ticket is gone: it was given back or removed, its lease
        has ended, or a program has adopted it

Examples:
  holdfast renew --lease 30m "$TICKET"
  holdfast renew - < ticket
)";

constexpr std::string_view give_help =
    R"(Gives a ticket back: releases its lock, and wakes the programs that wait for the
lock.

Usage: holdfast give [OPTIONS] TICKET

  TICKET is the text that 'holdfast take' has printed. '-' means that the ticket
  is read from standard input, so that other users cannot see it in the list of
  processes.

      --json           for programs: {"name", "released"}; "name" is the name on
                       the server, with the prefix
      --url URL        the server, as for 'holdfast take'
  -h, --help           print this text

Exit status:
    0   the lock is released
   64   the ticket, the command line or a variable is wrong
   69   the server cannot be reached, or refuses the request
   75   the lock of the ticket was gone already: it was given back or removed,
        its lease had ended, or a program has adopted it. Another holder may
        have had the lock since then

Examples:
  holdfast give "$TICKET"
  holdfast give - < ticket
)";

constexpr length usual_lease = std::chrono::minutes{10};

holdfast::duration whole_ms(length wanted) {
    constexpr length longest = std::chrono::hours{24 * 366};
    return std::chrono::ceil<holdfast::duration>(std::min(wanted, longest));
}

/// Chooses the server for a verb (subcommand). This machine's private server is not allowed,
/// because it ends soon after the last command. The lock of a ticket would end together with that
/// server.
void choose_server(look_options& given) {
    const char* const of_variable = std::getenv("HOLDFAST_URL");
    const bool names_server = !given.urls.empty() || (of_variable && *of_variable != '\0');
    if (names_server)
        given.server = server_urls(given.urls);
    if (!names_server || is_private_server(given.server))
        throw usage_error{"a ticket needs a server that does not end with the program; name it "
                          "with --url or HOLDFAST_URL"};
    require_one_url(given.server);
    if (keeps_sessions(given.server))
        throw usage_error{"on ZooKeeper a lock ends with the program that took it, so there are "
                          "no tickets; use 'holdfast run'"};
}

/// Reads the ticket from the given word, or from standard input if the word is `-`.
holdfast::ticket ticket_in(std::string word) {
    constexpr const char* blanks = " \t\r\n";
    if (word == "-" && !std::getline(std::cin, word))
        throw usage_error{"standard input has no ticket"};
    const std::size_t first = word.find_first_not_of(blanks);
    word = first == word.npos ? "" : word.substr(first, word.find_last_not_of(blanks) + 1 - first);
    try {
        return holdfast::ticket::from_string(word);
    } catch (const boost::system::system_error& wrong) {
        throw usage_error{reason_in_words(wrong)};
    }
}

struct take_options {
    look_options look;
    std::optional<length> wait, lease;
    bool fenced = false;
    std::string reason;
    std::optional<std::uint64_t> process;
};

std::optional<holdfast::lease> take_lock(holdfast::basic_mutex& lock, const take_options& given) {
    namespace asio = boost::asio;
    const holdfast::lease_time lasts{whole_ms(given.lease.value_or(usual_lease))};
    if (!given.wait)
        return lock.async_lock(lasts, asio::use_future).get();
    return lock.async_try_lock_for(whole_ms(*given.wait), lasts, asio::use_future).get();
}

/// Takes the lock and detaches the hold. Returns nothing if the lock is busy.
std::optional<holdfast::ticket> ticket_from(holdfast::client& home, holdfast::basic_mutex& lock,
                                            const take_options& given) {
    std::optional<holdfast::lease> held;
    (void)wait_visibly("lock '" + printable(given.look.name, 40) + "'", [&] {
        held = take_lock(lock, given);
        return true;
    });
    if (!held)
        return std::nullopt;
    // The client sends its description (host, process) in the background. The reply to this
    // inspect() shows that the server has stored it, so that `holdfast inspect` tells who took the
    // lock.
    (void)home.inspect(given.look.name, holdfast::lock_details::stored);
    return held->detach();
}

std::optional<holdfast::ticket> take_ticket(holdfast::client& home, const take_options& given) {
    if (given.fenced) {
        holdfast::fenced_mutex lock{home, given.look.name};
        return ticket_from(home, lock, given);
    }
    holdfast::mutex lock{home, given.look.name};
    return ticket_from(home, lock, given);
}

void print_taken(const take_options& given, const std::optional<holdfast::ticket>& got) {
    if (!given.look.json) {
        if (got)
            std::cout << to_string(*got) << '\n';
        return;
    }
    boost::json::object told = named(given.look.name);
    told["ticket"] = nullptr;
    told["token"] = nullptr;
    told["lease_ms"] = nullptr;
    if (got) {
        told["ticket"] = to_string(*got);
        told["lease_ms"] = whole_ms(given.lease.value_or(usual_lease)).count();
    }
    if (got && given.fenced)
        told["token"] = got->token;
    write_json(told);
}

/// Opens a pidfd of the process of --while. Another process may get the same number later.
descriptor process_of(std::uint64_t id) {
    const int opened = open_pidfd(static_cast<pid_t>(id));
    if (opened < 0 && errno == ESRCH)
        throw usage_error{"--while: there is no process " + std::to_string(id)};
    if (opened < 0)
        throw std::system_error{errno, std::generic_category(), "pidfd_open()"};
    return descriptor{opened};
}

/// Starts the process that renews the hold. If this process cannot be started, releases the lock.
void keep_while(const take_options& given, const holdfast::ticket& got, const descriptor& whose) {
    const holdfast::duration lease = whole_ms(given.lease.value_or(usual_lease));
    try {
        start_keeper({given.look.server, got, lease}, whose);
    } catch (const std::system_error&) {
        holdfast::client home{reaching(given.look.server)};
        (void)home.give(got);
        throw;
    }
}

int take_and_print(const take_options& given) {
    std::optional<descriptor> whose;
    if (given.process)
        whose.emplace(process_of(*given.process));
    std::optional<holdfast::ticket> got;
    {
        holdfast::options how = reaching(given.look.server);
        how.unavailable_timeout = given.look.outage_within;
        if (!given.reason.empty())
            how.label = given.reason;
        holdfast::client home{std::move(how)};
        got = take_ticket(home, given);
    }
    if (got && whose)
        keep_while(given, *got, *whose);
    print_taken(given, got);
    if (got && !std::cout.flush()) { // nobody has the ticket, so release the lock
        holdfast::client home{reaching(given.look.server)};
        (void)home.give(*got);
    }
    if (!got && !given.look.json)
        say("'" + printable(given.look.name) + "' is busy");
    return got ? success : busy;
}

/// Parses the command line of a verb with a ticket, and sets the server. Returns nothing if the
/// user asked for help.
std::optional<holdfast::ticket> parse_ticket(CLI::App& expected, look_options& given, arguments all,
                                             std::string_view help) {
    std::string word;
    expected.add_option("TICKET", word);
    if (!parse_look(expected, given, lock_word::none, std::move(all), help))
        return std::nullopt;
    if (word.empty())
        throw usage_error{"the ticket is missing; see 'holdfast " + expected.get_name() +
                          " --help'"};
    const holdfast::ticket which = ticket_in(std::move(word));
    choose_server(given);
    return which;
}

/// Prints that the ticket's hold has ended. Returns the exit status.
int tell_gone(const holdfast::ticket& which) {
    say("the lock '" + printable(which.name) +
        "' is no longer held by this ticket: it was given back or removed, its lease has ended, or "
        "a program has adopted it");
    return lock_lost;
}

} // namespace

int take(const inheritance&, arguments all) {
    take_options given;
    CLI::App expected{"", "take"};
    expect_time(expected, "-w,--wait", "-w", given.wait);
    expect_lease(expected, given.lease);
    expected.add_flag("--fenced", given.fenced);
    expected.add_option("--reason", given.reason);
    expect_number(expected, "--while", "--while", 1, std::numeric_limits<pid_t>::max(),
                  [&given](std::uint64_t id) { given.process = id; });
    if (!parse_look(expected, given.look, lock_word::required, std::move(all), take_help))
        return success;
    choose_server(given.look);
    limit_outage(given.look, given.wait);
    try {
        return take_and_print(given);
    } catch (const boost::system::system_error& failure) {
        return last_words{}.report(failure, given.look.server, what_server_did(failure.code()));
    }
}

int renew(const inheritance& inherited, arguments all) {
    look_options given;
    std::optional<length> lease;
    CLI::App expected{"", "renew"};
    expect_lease(expected, lease);
    const std::optional<holdfast::ticket> which =
        parse_ticket(expected, given, std::move(all), renew_help);
    if (!which)
        return success;
    return ask_server(inherited, given, [&](holdfast::client& home) -> int {
        const holdfast::duration lasts = whole_ms(lease.value_or(usual_lease));
        const bool renewed =
            answer_of_server([&] { return home.renew(*which, holdfast::lease_time{lasts}); });
        if (given.json) {
            boost::json::object told = named(which->name);
            told["renewed"] = renewed;
            told["lease_ms"] = renewed ? boost::json::value(lasts.count()) : nullptr;
            write_json(told);
        }
        return renewed ? success : tell_gone(*which);
    });
}

int give(const inheritance& inherited, arguments all) {
    look_options given;
    CLI::App expected{"", "give"};
    const std::optional<holdfast::ticket> which =
        parse_ticket(expected, given, std::move(all), give_help);
    if (!which)
        return success;
    return ask_server(inherited, given, [&](holdfast::client& home) -> int {
        const bool released = answer_of_server([&] { return home.give(*which); });
        if (given.json) {
            boost::json::object told = named(which->name);
            told["released"] = released;
            write_json(told);
        }
        return released ? success : tell_gone(*which);
    });
}

} // namespace cli
