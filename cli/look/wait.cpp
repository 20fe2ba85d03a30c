// SPDX-License-Identifier: Apache-2.0
// `holdfast wait`: waits until a lock is free.
#include "cli/command_line.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/looking.hpp"
#include "cli/look/quorum.hpp"
#include "cli/terminal/output.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace cli {
namespace {

constexpr std::string_view wait_help =
    R"(Waits until a lock is free, and does not take it. When this program ends,
somebody else may already have taken the lock. To do something while nobody else
holds the lock, use 'holdfast run'.

Most releases end the wait at once. The release of a fair lock or a spin lock is
noticed within a second. A fair lock is also free for a moment between two
holders; while others wait in its queue, this moment may be too short to be
noticed.

Usage: holdfast wait [OPTIONS] NAME

  -w, --wait TIME      wait at most this long (0.5, 30, 2m; 0: only look);
                       without it, wait for ever
      --json           for programs: {"name", "free", "waited_ms"}
      --url URL        the server, as for 'holdfast run'; a quorum is asked four
                       times a second
  -h, --help           print this text

Exit status:
    0   the lock is free
    1   the lock was not free within -w
   64   the command line or a variable is wrong
   65   the server has something else under that name, which is no lock
   69   the server cannot be reached, or refuses the request

Examples:
  holdfast wait nightly-report && mail -s 'the report is there' boss < report
  holdfast wait -w 0 deploy || echo 'somebody deploys'
)";

} // namespace

int wait(const inheritance& inherited, arguments all) {
    look_options given;
    std::optional<std::chrono::duration<double>> timeout;
    CLI::App expected{"", "wait"};
    expect_time(expected, "-w,--wait", "-w", timeout);
    if (!parse_look(expected, given, lock_word::required, std::move(all), wait_help))
        return success;
    // Poll every second, because some kinds of locks send no notification of a release.
    given.asks_within = std::chrono::seconds{1};
    limit_outage(given, timeout);
    const auto most = timeout.value_or(std::chrono::duration<double>::max());

    if (asks_quorum(given))
        return wait_quorum(given, most);
    return ask_server(inherited, given, [&](holdfast::client& home) -> int {
        const holdfast::time_point start = holdfast::boot_clock::now();
        std::optional<holdfast::lock_state> found = answer_of_server(
            [&] { return home.inspect(given.name, holdfast::lock_details::stored); });
        // Do not wait for a key that is not a lock: nobody would release it.
        if (found && found->kind == holdfast::key_kind::other) {
            found->name = given.name; // without the prefix of the URL
            say(no_lock_in_words(home, *found));
            return no_lock;
        }
        const bool free = wait_visibly("the release of lock '" + printable(given.name, 40) + "'",
                                       [&] { return home.wait_free(given.name, most); });
        if (given.json) {
            boost::json::object told = named(given.name);
            told["free"] = free;
            told["waited_ms"] = (holdfast::boot_clock::now() - start).count();
            write_json(told);
        }
        return free ? success : busy;
    });
}

} // namespace cli
