// SPDX-License-Identifier: Apache-2.0
// `holdfast latch`: lets processes wait until other processes have reached a point.
#include "cli/exit_status.hpp"
#include "cli/look/lock_json.hpp"
#include "cli/look/looking.hpp"
#include "cli/terminal/say.hpp"
#include "cli/text/suggestion.hpp"
#include "cli/verbs.hpp"

#include <holdfast/latch.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <iostream>
#include <thread>

namespace cli {
namespace {

constexpr std::string_view latch_help =
    R"(Lets processes wait until other processes have reached a point. A latch is a
number with a name. It is set to a number, is counted down, and opens at zero.
Then all waiting processes continue, and processes that come later do not wait.
It is Redisson's count-down latch: JVMs can set it, count it down and wait for
it, too.

A latch that has not been set is open. So set it before a process waits for it,
or wait with --set first.

Usage: holdfast latch set [OPTIONS] NAME NUMBER
       holdfast latch down [OPTIONS] NAME [NUMBER]
       holdfast latch wait [OPTIONS] NAME
       holdfast latch count [OPTIONS] NAME
       holdfast latch erase [OPTIONS] NAME

  set            close it until it has been counted down NUMBER times; a latch
                 that is closed already does not change
  down           count it down, by 1 or by NUMBER; it opens at zero. If it is
                 open, nothing is counted, and the exit status is 1
  wait           wait until it is open
  count          print the number that is left; 0 means that it is open
  erase          open it, whatever number is left

      --set            of wait: wait until the latch is set, not until it is
                       open. The server is asked five times a second. A latch
                       that is set and opens within a fifth of a second may be
                       missed
  -w, --wait TIME      of wait: wait at most that long (0.5, 30, 2m; 0: only
                       look); without it: wait for ever
      --replicas N     of set, down, erase: N replicas of the server must
                       confirm the change, so that a failover to one of them
                       does not undo it (default 0, or what the URL says)
      --json           for programs: {"name", "count"}; of set also "set", of
                       down "counted", of erase "erased", of wait "open" ("set"
                       with --set) and "waited_ms"; the count is what is left
                       then
      --url URL        the server, as for 'holdfast run'
  -h, --help           print this text

A change is carried out at most once, even if it had to be sent several times.
If it is not known whether it was carried out, the exit status is 69. Only you
can decide then whether to repeat it.

Exit status:
    0   it is done; of wait: the latch is open; of wait --set: it is set
    1   it was closed already (set); it was open already, or has never been set
        (down, erase); it was not open, or with --set not set, within -w (wait)
   64   the command line or a variable is wrong
   65   the server has something else under that name, which is no latch
   69   the server cannot be reached, or refuses

Examples:
  holdfast latch set migrated 1      # before the services start
  ./migrate && holdfast latch down migrated
  holdfast latch wait -w 5m migrated && ./service
  holdfast latch wait --set migrated && holdfast latch wait migrated
)";

struct latch_errand {
    std::string word, number;
    std::optional<std::chrono::duration<double>> patience{};
    std::optional<unsigned> replicas{};
    bool until_set = false;
};

const std::array<std::string, 5> latch_words{"set", "down", "wait", "count", "erase"};

void check(const latch_errand& what) {
    constexpr const char* see = "; see 'holdfast latch --help'";
    if (what.word.empty())
        throw usage_error{std::string{"say what to do with the latch: set, down, wait, count or "
                                      "erase"} +
                          see};
    if (std::ranges::find(latch_words, what.word) == latch_words.end())
        throw usage_error{"'" + printable(what.word) +
                          "' is nothing that can be done with a latch" +
                          advice_on(what.word, {latch_words.begin(), latch_words.end()}, "latch")};
    if (!what.number.empty() && what.word != "set" && what.word != "down")
        throw usage_error{"'" + printable(what.number) + "' is one word too many" + see};
    if (what.patience && what.word != "wait")
        throw usage_error{"-w is for 'holdfast latch wait'"};
    if (what.until_set && what.word != "wait")
        throw usage_error{"--set is for 'holdfast latch wait'"};
    if (what.replicas && (what.word == "wait" || what.word == "count"))
        throw usage_error{"--replicas is for what changes the latch: set, down and erase"};
}

std::int64_t count_of(const std::string& number) {
    if (number.empty())
        return 1;
    std::int64_t count = 0;
    const char* const end = number.data() + number.size();
    const auto parsed = std::from_chars(number.data(), end, count);
    if (parsed.ec != std::errc{} || parsed.ptr != end || count < 1 ||
        count > holdfast::latch::max())
        throw usage_error{"NUMBER: '" + printable(number) + "' is no whole number from 1 to " +
                          std::to_string(holdfast::latch::max())};
    return count;
}

void say_why_not(const std::string& word, const std::string& name, std::int64_t left) {
    const std::string which = "'" + printable(name) + "' ";
    if (word == "set")
        say(which + "is closed already: " + std::to_string(left) + " to go");
    else if (word == "down")
        say(which + "is open, or has never been set; nothing was counted");
    else if (word == "erase")
        say(which + "was open");
}

/// Waits until the latch is set and closed. Returns false if `patience` passes first. It polls,
/// because the server sends no notification when a latch is set.
bool wait_until_set(const holdfast::latch& of, std::chrono::duration<double> patience) {
    constexpr std::chrono::duration<double> longest = std::chrono::hours{24 * 366};
    constexpr holdfast::duration ask_again{200};
    const holdfast::time_point give_up_at =
        holdfast::boot_clock::now() +
        std::chrono::ceil<holdfast::duration>(std::min(patience, longest));
    while (of.count() == 0) {
        const holdfast::duration left = give_up_at - holdfast::boot_clock::now();
        if (left <= holdfast::duration::zero())
            return false;
        std::this_thread::sleep_for(std::min(left, ask_again));
    }
    return true;
}

/// Carries out the command and returns whether it succeeded. The read-only command `count` always
/// succeeds.
bool carry_out(holdfast::latch& of, const latch_errand& what, boost::json::object& told) {
    if (what.word == "set")
        return (told["set"] = of.try_set_count(count_of(what.number))).as_bool();
    if (what.word == "erase")
        return (told["erased"] = of.erase()).as_bool();
    if (what.word == "wait") {
        const holdfast::time_point start = holdfast::boot_clock::now();
        const auto most = what.patience.value_or(std::chrono::duration<double>::max());
        const bool done = what.until_set ? wait_until_set(of, most) : of.wait_for(most);
        told[what.until_set ? "set" : "open"] = done;
        told["waited_ms"] = (holdfast::boot_clock::now() - start).count();
        return done;
    }
    if (what.word == "down") {
        const bool is_closed = of.count() > 0; // counting down an open latch has no effect
        if (is_closed)
            of.count_down(count_of(what.number));
        return (told["counted"] = is_closed).as_bool();
    }
    return true;
}

int at(holdfast::client& home, const look_options& given, const latch_errand& what) {
    holdfast::latch of{home, {given.name}, {.required_replicas = what.replicas}};
    boost::json::object told = named(given.name);
    const bool done = carry_out(of, what, told);
    const bool must_count = given.json || what.word == "count" || !done;
    const std::int64_t left = must_count ? of.count() : 0;
    if (given.json) {
        told["count"] = left;
        write_json(told);
    } else if (what.word == "count") {
        std::cout << left << '\n';
    } else if (!done) {
        say_why_not(what.word, given.name, left);
    }
    return done ? success : busy;
}

} // namespace

int latch(const inheritance& inherited, arguments all) {
    look_options given;
    latch_errand what;
    CLI::App expected{"", "latch"};
    expect_server(expected, given);
    expect_time(expected, "-w,--wait", "-w", what.patience);
    expect_replicas(expected, what.replicas);
    expected.add_flag("--set", what.until_set);
    expected.add_option("WORD", what.word);
    expected.add_option("NAME", given.name);
    expected.add_option("NUMBER", what.number);
    if (!parse(expected, std::move(all), latch_help))
        return success;
    reject_surplus(expected);
    check(what);
    require_name(expected, given.name, "latch", "; see 'holdfast latch --help'");
    if (what.word == "set" && what.number.empty())
        throw usage_error{"the NUMBER is missing: 'holdfast latch set NAME NUMBER'"};
    (void)count_of(what.number);

    return ask_server(inherited, given, [&](holdfast::client& home) {
        try {
            return at(home, given, what);
        } catch (const boost::system::system_error& failure) {
            if (failure.code() != holdfast::store_errc::wrong_type)
                throw;
            say("'" + printable(given.name) + "' is no latch, but something else");
            return int{no_lock};
        }
    });
}

} // namespace cli
