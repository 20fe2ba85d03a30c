// SPDX-License-Identifier: Apache-2.0
// `holdfast ask`: asks the holder of a lock to release it soon.
#include "cli/command_line.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/look/looking.hpp"
#include "cli/look/quorum.hpp"
#include "cli/run/locks.hpp"
#include "cli/terminal/output.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <vector>

namespace cli {
namespace {

using holdfast::duration;
using holdfast::lock_state;
using holdfast::time_point;

constexpr std::string_view ask_help =
    R"(Asks the holder of a lock, or all its holders if it is shared, to release the
lock soon. A holder may end its work early, or go on: nothing is taken away.
Commands get the request if they were started with 'holdfast run --on-ask', and
programs if they use lease::asked(). The request is only for the present
holders; the next holder does not get it. The locks must be kept in Redis or
Valkey.

Usage: holdfast ask [OPTIONS] NAME

      --reason TEXT    why you want the lock; the holder is told (at most 1000
                       bytes)
  -w, --wait TIME      wait at most this long (0.5, 30, 2m) until the asked
                       holders have released the lock. The server keeps the
                       request for this time, or for a minute without -w
      --json           for programs: {"name", "asked": [OWNER, ...], "free",
                       "waited_ms"}; "free" is true if the asked holders have
                       released the lock
      --url URL        the server, as for 'holdfast run'; for a quorum, ask each
                       of its servers alone
  -h, --help           print this text

Exit status:
    0   the lock is free, or the asked holders have released it; another
        program may have taken it since
    1   an asked holder still holds the lock, after the time of -w; without -w,
        right after the request
   64   the command line or a variable is wrong, or the server cannot pass
        requests on to holders
   65   the server has something else under that name, which is no lock
   69   the server cannot be reached, or refuses the request

Examples:
  holdfast ask --reason 'deploy of 4.2' -w 2m nightly-report
  holdfast ask -w 1m job || holdfast unlock --force job   # the last resort
)";

/// Time for which the server keeps the request to release the lock, if the user gave no -w.
constexpr std::chrono::minutes usually_kept{1};

/// Longest time between two checks whether the asked holders still have the lock. The notification
/// of a release usually ends the pause earlier.
constexpr duration check_period = std::chrono::seconds{1};

/// Returns whether one of these owners still holds the lock. If the store did not list the owners
/// of the lock because there are too many, returns whether anybody holds the lock.
bool hold_still(const std::optional<lock_state>& lock, const std::vector<std::string>& asked) {
    if (!lock || !lock->is_held)
        return false;
    return lock->owners.empty() ||
           std::ranges::any_of(lock->owners, [&](const holdfast::lock_owner& each) {
               return std::ranges::find(asked, each.text) != asked.end();
           });
}

/// Waits until the asked owners have released the lock, or until the time `until`.
bool await_release(holdfast::client& home, const std::string& name,
                   const std::vector<std::string>& asked, time_point until) {
    for (;;) {
        const duration left = until - holdfast::boot_clock::now();
        if (home.wait_free(name, std::clamp(left, duration::zero(), check_period)))
            return true;
        if (!hold_still(home.inspect(name, holdfast::lock_details::stored), asked))
            return true;
        if (holdfast::boot_clock::now() >= until)
            return false;
    }
}

/// Prints which holders were asked.
void tell_of_holders(const std::string& name, const std::optional<lock_state>& lock) {
    if (!lock || !lock->is_held)
        return;
    for (const holdfast::lock_owner& each : lock->owners)
        say("asked the holder of '" + printable(name) +
            "': " + printable(owner_in_words(each), 500) +
            (each.is_holdfast ? "" : ", which does not use holdfast and gets no requests"));
}

} // namespace

int ask(const inheritance& inherited, arguments all) {
    look_options given;
    std::string reason;
    std::optional<std::chrono::duration<double>> timeout;
    CLI::App expected{"", "ask"};
    expected.add_option("--reason", reason);
    expect_time(expected, "-w,--wait", "-w", timeout);
    if (!parse_look(expected, given, lock_word::required, std::move(all), ask_help))
        return success;
    if (reason.size() > holdfast::wish::reason_bytes_max)
        throw usage_error{"--reason has " + std::to_string(reason.size()) +
                          " bytes; the limit is " +
                          std::to_string(holdfast::wish::reason_bytes_max)};
    if (asks_quorum(given))
        throw usage_error{"a quorum cannot be asked as a whole: ask each of its servers alone, "
                          "with one --url"};
    if (!is_on_redis(given.server))
        throw usage_error{"this store cannot pass a request on to the holder of a lock; Redis and "
                          "Valkey can"};
    given.asks_within = check_period;
    limit_outage(given, timeout);
    const duration most = timeout ? length_of(*timeout) : duration::zero();

    return ask_server(inherited, given, [&](holdfast::client& home) -> int {
        const time_point start = holdfast::boot_clock::now();
        const std::vector<std::string> asked = answer_of_server([&] {
            return timeout ? home.ask_for(given.name, reason, most)
                           : home.ask_for(given.name, reason, usually_kept);
        });
        bool free = asked.empty();
        if (!free && !given.json)
            tell_of_holders(given.name, answer_of_server([&] {
                                return home.inspect(given.name, holdfast::lock_details::stored);
                            }));
        if (!free && timeout)
            free = wait_visibly("the release of lock '" + printable(given.name, 40) + "'", [&] {
                return await_release(home, given.name, asked, start + most);
            });
        if (given.json) {
            boost::json::object told = named(given.name);
            told["asked"] = texts_in_json(asked);
            told["free"] = free;
            told["waited_ms"] = (holdfast::boot_clock::now() - start).count();
            write_json(told);
        } else if (asked.empty()) {
            say("'" + printable(given.name) + "' is free: nobody was asked");
        }
        return free ? success : busy;
    });
}

} // namespace cli
