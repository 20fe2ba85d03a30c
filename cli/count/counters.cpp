// SPDX-License-Identifier: Apache-2.0
#include "cli/count/counters.hpp"

#include "cli/command_line.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/terminal/output.hpp"
#include "cli/text/text.hpp"

#include <holdfast/counting_semaphore.hpp>
#include <holdfast/error.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leased_semaphore.hpp>
#include <holdfast/rate_limiter.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <boost/json/array.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iostream>
#include <thread>
#include <utility>

#include <unistd.h>

namespace cli {
namespace {

using holdfast::counter_kind;
using holdfast::duration;

constexpr std::pair<const char*, counter_kind> types[] = {{"semaphore", counter_kind::semaphore},
                                                          {"permits", counter_kind::permits},
                                                          {"latch", counter_kind::latch},
                                                          {"rate", counter_kind::rate}};

/// Formats a duration in the largest unit that divides it without a remainder, for example 90
/// seconds as `90s`. So different durations never look equal.
std::string exactly(duration length) {
    const std::pair<duration, const char*> units[] = {{std::chrono::hours{1}, "h"},
                                                      {std::chrono::minutes{1}, "m"},
                                                      {std::chrono::seconds{1}, "s"}};
    for (const auto& [one, name] : units)
        if (length % one == duration::zero())
            return std::to_string(length / one) + name;
    return std::to_string(length.count()) + "ms";
}

bool is_for_each(const holdfast::rate& how) {
    return how.scope == holdfast::rate::scope_of::per_client;
}

boost::json::object rate_in_json(const holdfast::rate& how) {
    return {{"permits", how.permits},
            {"per_ms", how.per.count()},
            {"per_client", is_for_each(how)},
            {"kept_ms", how.kept.count()}};
}

} // namespace

std::optional<counter_kind> counter_type(std::string_view word) {
    for (const auto& [name, kind] : types)
        if (word == name)
            return kind;
    return std::nullopt;
}

std::string word_of(counter_kind wanted) {
    for (const auto& [name, kind] : types)
        if (kind == wanted)
            return name;
    return {};
}

std::string counter_types() {
    return "semaphore, permits, latch or rate";
}

std::string rate_in_words(const holdfast::rate& how, const std::string& noun) {
    return how_many(how.permits, noun) + " in any " + exactly(how.per) +
           (is_for_each(how) ? " for each client" : "") +
           (how.kept > duration::zero() ? ", forgotten after " + exactly(how.kept) : "");
}

std::string state_in_words(counter_kind kind, const holdfast::counter_state& found) {
    if (kind == counter_kind::latch)
        return std::to_string(found.value) + " to go";
    if (kind == counter_kind::rate)
        return std::to_string(found.value) + " left of " + rate_in_words(found.of, "permit");
    const std::string held =
        kind == counter_kind::permits ? ", " + std::to_string(found.taken) + " held" : "";
    return how_many(found.value, "permit") + held;
}

std::string listeners_in_words(counter_kind kind, const holdfast::counter_state& found) {
    if (found.listeners)
        return std::to_string(*found.listeners);
    return kind == counter_kind::rate ? "-" : "?";
}

void add_to_json(boost::json::object& told, counter_kind kind,
                 const holdfast::counter_state& found) {
    told["kind"] = word_of(kind);
    told["exists"] = found.exists;
    told["count"] = found.value;
    if (kind == counter_kind::permits)
        told["taken"] = found.taken;
    if (kind == counter_kind::rate)
        told["rate"] = found.exists ? boost::json::value(rate_in_json(found.of)) : nullptr;
    told["listeners"] =
        found.listeners ? boost::json::value(*found.listeners) : boost::json::value(nullptr);
}

namespace {

void print_listeners(counter_kind kind, const holdfast::counter_state& found,
                     const std::string& server) {
    std::cout << "listening  ";
    if (found.listeners)
        std::cout << *found.listeners << " connection(s) wait for "
                  << (kind == counter_kind::latch ? "its opening\n" : "permits\n");
    else
        std::cout << "not known: "
                  << (is_on_redis(server) ? "this user has no right to ask\n"
                                          : "this store does not count them\n");
}

void print_state(const look_options& given, counter_kind kind,
                 const holdfast::counter_state& found) {
    const std::string& name = given.name;
    std::cout << "name       " << printable(name, name.size()) << "\nkind       " << word_of(kind)
              << (kind == counter_kind::latch ? "\nto go      " : "\npermits    ") << found.value
              << '\n';
    if (kind == counter_kind::permits)
        std::cout << "held       " << found.taken << '\n';
    if (kind == counter_kind::permits && found.exists && found.taken == 0 && found.value <= 0)
        std::cout << "           no permit can become free: set the number again, or delete it\n"
                     "           with holdfast unlock --force --type permits NAME\n";
    // The server cannot count the waiters of a rate limiter, because they poll and do not
    // subscribe.
    if (kind == counter_kind::rate)
        std::cout << "rate       " << rate_in_words(found.of, "permit") << '\n';
    else
        print_listeners(kind, found, given.server);
}

bool erase(holdfast::client& home, const std::string& name, counter_kind kind) {
    switch (kind) {
    case counter_kind::semaphore:
        return holdfast::counting_semaphore{home, {name}}.erase();
    case counter_kind::permits:
        return holdfast::leased_semaphore{home, {name}}.erase();
    case counter_kind::latch:
        return holdfast::latch{home, {name}}.erase();
    case counter_kind::rate:
        return holdfast::rate_limiter{home, {name}}.erase();
    }
    return false;
}

/// Prints that the name belongs to another kind of lock or counter than the command expects. The
/// store's error names both kinds.
void say_other_kind(const std::string& name, const boost::system::system_error& failure) {
    std::string text = failure.what();
    if (const std::size_t general = text.find(": " + failure.code().message());
        general != text.npos)
        text.erase(general);
    if (constexpr std::string_view code = "WRONGTYPE "; text.starts_with(code))
        text.erase(0, code.size());
    say("'" + printable(name) + "' is of another kind: " + printable(text, 300));
}

/// Calls `ask` and returns its exit status. If the name belongs to another kind of lock or counter,
/// prints both kinds and returns `no_lock`.
template <typename Ask>
int ask_of(const look_options& given, Ask ask) {
    try {
        return ask();
    } catch (const boost::system::system_error& failure) {
        if (failure.code() != holdfast::store_errc::wrong_type)
            throw;
        say_other_kind(given.name, failure);
        return no_lock;
    }
}

bool confirmed(const std::string& name, counter_kind kind, const holdfast::counter_state& found) {
    std::cerr << "'" << printable(name) << "': " << state_in_words(kind, found)
              << ". Programs may count on it. Delete it? [y/N] " << std::flush;
    return is_answered_yes();
}

} // namespace

int inspect_counter(holdfast::client& home, const look_options& given, counter_kind kind) {
    return ask_of(given, [&]() -> int {
        const holdfast::counter_state found =
            answer_of_server([&] { return home.inspect({given.name}, kind); });
        if (given.json) {
            boost::json::object told = named(given.name);
            add_to_json(told, kind, found);
            write_json(told);
        } else if (found.exists) {
            print_state(given, kind, found);
        } else {
            std::cout << "'" << printable(given.name) << "': there is no such " << word_of(kind)
                      << (kind == counter_kind::latch ? ", so it is open\n" : "\n");
        }
        return found.exists ? success : is_free;
    });
}

int erase_counter(holdfast::client& home, const look_options& given, counter_kind kind, bool yes) {
    return ask_of(given, [&]() -> int {
        const holdfast::counter_state found =
            answer_of_server([&] { return home.inspect({given.name}, kind); });
        if (found.exists && !yes && !confirmed(given.name, kind, found)) {
            say("nothing was changed");
            return left_alone;
        }
        const bool is_gone = found.exists && erase(home, given.name, kind);
        if (given.json) {
            boost::json::object told = named(given.name);
            told["released"] = is_gone;
            boost::json::object was;
            add_to_json(was, kind, found);
            told["was"] = found.exists ? boost::json::value(std::move(was)) : nullptr;
            write_json(told);
        } else if (!is_gone) {
            say("'" + printable(given.name) + "': there is no such " + word_of(kind));
        }
        return is_gone ? success : is_free;
    });
}

// Lists counters for `holdfast ls --type`.

namespace {

using holdfast::counter_list;

void print_all(const counter_list& all, counter_kind kind) {
    constexpr std::size_t name_least = 16;
    table lines{{{"NAME", name_least}, {"KIND"}, {"STATE"}, {"LISTENING"}}};
    for (const counter_list::entry& each : all.counters)
        lines.add({each.name, word_of(kind), state_in_words(kind, each.state),
                   listeners_in_words(kind, each.state)});
    if (!all.counters.empty())
        print_list(lines);
    std::cout.flush();
}

void print_json(const counter_list& all, counter_kind kind, const std::string& server) {
    boost::json::array counters;
    for (const counter_list::entry& each : all.counters) {
        boost::json::object told = named(each.name);
        add_to_json(told, kind, each.state);
        counters.push_back(std::move(told));
    }
    boost::json::object told{{"counters", std::move(counters)},
                             {"complete", all.complete},
                             {"server", text_in_json(without_password(server))}};
    add_unreachable(told, all.unreachable);
    write_json(told);
}

/// Prints the names on stdout. On a terminal, escapes control characters. On any other output,
/// prints the names unchanged.
void print_names(const counter_list& all) {
    const bool raw = ::isatty(STDOUT_FILENO) != 1;
    for (const counter_list::entry& each : all.counters)
        std::cout << (raw ? each.name : printable(each.name, each.name.size())) << '\n';
}

/// Returns the counters whose names match `given.name`, without the prefix of the URL.
counter_list list_of(holdfast::client& home, counter_kind kind, const look_options& given,
                     std::size_t limit) {
    counter_list found = answer_of_server([&] { return home.list(kind, given.name, limit); });
    const std::string prefix = prefix_of(given.server);
    for (counter_list::entry& each : found.counters)
        each.name = without_prefix(std::move(each.name), prefix);
    return found;
}

} // namespace

int list_counters(holdfast::client& home, const look_options& given, counter_kind kind,
                  std::size_t limit, bool names_only) {
    const counter_list found = list_of(home, kind, given, limit);
    if (given.json)
        print_json(found, kind, given.server);
    else if (names_only)
        print_names(found);
    else
        print_all(found, kind);
    if (!found.complete)
        tell_incomplete("name", limit, found.unreachable);
    return success;
}

void tell_incomplete(std::string_view limited, std::size_t limit,
                     const std::vector<std::string>& unreachable) {
    for (const std::string& each : unreachable)
        say("the list is not complete: a server could not be asked: " + printable(each, 500));
    if (unreachable.empty())
        say("the list is not complete: there are more than " +
            how_many(limit, std::string{limited}) +
            ", or the server has many millions of keys; give a PATTERN or --limit");
}

known_counters find_known_counters(holdfast::client& home, const look_options& given,
                                   std::size_t limit) {
    known_counters known;
    for (const counter_kind kind : {counter_kind::permits, counter_kind::rate}) {
        try {
            counter_list found = list_of(home, kind, given, limit);
            known.complete = known.complete && found.complete;
            if (known.unreachable.empty())
                known.unreachable = std::move(found.unreachable);
            for (counter_list::entry& each : found.counters)
                known.counters.push_back({kind, std::move(each.name), each.state});
        } catch (const boost::system::system_error& failure) {
            if (failure.code() == holdfast::errc::invalid_argument)
                continue; // this store does not support this kind
            if (failure.code() != holdfast::store_errc::no_permission)
                throw;
            say("'" + word_of(kind) + "' is not listed: " + reason_in_words(failure));
        }
    }
    return known;
}

// `holdfast latch`: lets processes wait until other processes have reached a certain point in their
// work.

namespace {

constexpr std::string_view latch_help =
    R"(Lets processes wait until other processes have reached a point. A latch is a
number with a name. One process sets the number, other processes count it down,
and at zero the latch opens. Then all waiting processes continue, and processes
that come later do not wait. It is Redisson's count-down latch: JVMs can set it,
count it down and wait for it, too.

A latch that has not been set is open. So set the latch before a process waits
for it, or wait with --set first.

Usage: holdfast latch set [OPTIONS] NAME NUMBER
       holdfast latch down [OPTIONS] NAME [NUMBER]
       holdfast latch wait [OPTIONS] NAME
       holdfast latch count [OPTIONS] NAME
       holdfast latch erase [OPTIONS] NAME

  set            close the latch until it has been counted down NUMBER times; a
                 latch that is closed already does not change
  down           subtract 1 or NUMBER from the number; the latch opens at zero.
                 If it is open already, nothing changes, and the exit status is
                 1
  wait           wait until the latch is open
  count          print the number that is left; 0 means that the latch is open
  erase          open the latch, whatever number is left

      --set            of wait: wait until the latch is set, not until it is
                       open. The server is asked five times a second. If a latch
                       is set and opens within a fifth of a second, this may be
                       missed
  -w, --wait TIME      of wait: wait at most this long (0.5, 30, 2m; 0: only
                       look); without it, wait for ever
      --replicas N     of set, down, erase: require that N replicas of the
                       server confirm the change, so that a failover to one of
                       them does not undo it (default 0, or the number in the
                       URL)
      --json           for programs: {"name", "count"}; of set also "set", of
                       down "counted", of erase "erased", of wait "open" ("set"
                       with --set) and "waited_ms"; the count is what is left
                       then
      --url URL        the server, as for 'holdfast run'
  -h, --help           print this text

A change is carried out at most once, even if the client had to send it several
times. If the client cannot find out whether the change was carried out, the
exit status is 69. Only you can then decide whether to repeat it.

Exit status:
    0   the command was carried out; of wait: the latch is open; of wait --set:
        it is set
    1   it was closed already (set); it was open already, or has never been set
        (down, erase); it was not open, or with --set not set, within -w (wait)
   64   the command line or a variable is wrong
   65   the server has something else under that name, which is no latch
   69   the server cannot be reached, or refuses the request

Examples:
  holdfast latch set migrated 1      # before the services start
  ./migrate && holdfast latch down migrated
  holdfast latch wait -w 5m migrated && ./service
  holdfast latch wait --set migrated && holdfast latch wait migrated
)";

struct latch_command {
    std::string word, number;
    std::optional<std::chrono::duration<double>> timeout{};
    std::optional<unsigned> replicas{};
    bool until_set = false;
};

const std::array<std::string, 5> latch_words{"set", "down", "wait", "count", "erase"};

void check(const latch_command& what) {
    constexpr const char* see = "; see 'holdfast latch --help'";
    if (what.word.empty())
        throw usage_error{std::string{"say what to do with the latch: set, down, wait, count or "
                                      "erase"} +
                          see};
    if (std::ranges::find(latch_words, what.word) == latch_words.end())
        throw usage_error{"'" + printable(what.word) + "' is not a command for a latch" +
                          advice_on(what.word, {latch_words.begin(), latch_words.end()}, "latch")};
    if (!what.number.empty() && what.word != "set" && what.word != "down")
        throw usage_error{"'" + printable(what.number) + "' is an unexpected argument" + see};
    if (what.timeout && what.word != "wait")
        throw usage_error{"-w works only with 'holdfast latch wait'"};
    if (what.until_set && what.word != "wait")
        throw usage_error{"--set works only with 'holdfast latch wait'"};
    if (what.replicas && (what.word == "wait" || what.word == "count"))
        throw usage_error{
            "--replicas works only with the commands that change a latch: set, down and erase"};
}

std::int64_t count_of(const std::string& number) {
    if (number.empty())
        return 1;
    std::int64_t count = 0;
    const char* const end = number.data() + number.size();
    const auto parsed = std::from_chars(number.data(), end, count);
    if (parsed.ec != std::errc{} || parsed.ptr != end || count < 1 ||
        count > holdfast::latch::max())
        throw usage_error{"NUMBER: '" + printable(number) + "' is not a whole number from 1 to " +
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

/// Waits until the latch is set (its count is not zero). Returns false after `timeout`. The
/// function polls, because the server sends no notification when a latch is set. Throws if the
/// server cannot be reached for `outage`.
bool wait_until_set(const holdfast::latch& of, std::chrono::duration<double> timeout,
                    holdfast::duration outage) {
    using holdfast::boot_clock;
    constexpr std::chrono::duration<double> longest = std::chrono::hours{24 * 366};
    constexpr holdfast::duration ask_again{200};
    const holdfast::time_point give_up_at =
        boot_clock::now() + std::chrono::ceil<holdfast::duration>(std::min(timeout, longest));
    holdfast::time_point answered_at = boot_clock::now();
    for (;;) {
        try {
            if (of.count() != 0)
                return true;
            answered_at = boot_clock::now();
            if (answered_at >= give_up_at)
                return false;
        } catch (const boost::system::system_error& failure) {
            const bool is_away = failure.code() == holdfast::errc::unreachable ||
                                 failure.code() == holdfast::errc::outcome_unknown;
            const holdfast::time_point now = boot_clock::now();
            if (!is_away || now - answered_at >= outage || now >= give_up_at)
                throw;
        }
        const holdfast::duration left = give_up_at - boot_clock::now();
        std::this_thread::sleep_for(std::clamp(left, holdfast::duration{}, ask_again));
    }
}

/// Executes a `latch` command and returns whether it succeeded. `latch count` always succeeds,
/// because it only reads.
bool carry_out(holdfast::latch& of, const look_options& given, const latch_command& what,
               boost::json::object& told) {
    // Send a query first: if the server cannot be reached, a query fails at once, but a change
    // would wait.
    const std::int64_t left = answer_of_server([&] { return of.count(); });
    if (what.word == "set")
        return (told["set"] =
                    answer_of_server([&] { return of.try_set_count(count_of(what.number)); }))
            .as_bool();
    if (what.word == "erase")
        return (told["erased"] = answer_of_server([&] { return of.erase(); })).as_bool();
    if (what.word == "wait") {
        if (left == 0 && !what.until_set && !given.json)
            say("'" + printable(given.name) +
                "' is open, or has never been set; there is nothing to wait for");
        const holdfast::time_point start = holdfast::boot_clock::now();
        const auto most = what.timeout.value_or(std::chrono::duration<double>::max());
        const bool done =
            wait_visibly((what.until_set ? "the setting of latch '" : "latch '") +
                             printable(given.name, 40) + "'",
                         [&] {
                             return what.until_set ? wait_until_set(of, most, outage_timeout(given))
                                                   : of.wait_for(most);
                         });
        told[what.until_set ? "set" : "open"] = done;
        told["waited_ms"] = (holdfast::boot_clock::now() - start).count();
        return done;
    }
    if (what.word == "down")
        return (told["counted"] =
                    answer_of_server([&] { return of.count_down(count_of(what.number)); }))
            .as_bool();
    return true;
}

/// Prints that the server executed the request, but too few replicas confirmed it. Returns the exit
/// status. The error does not tell whether the latch was changed, so the printed text fits both
/// cases.
int report_not_replicated(const look_options& given, const latch_command& what,
                          const boost::system::system_error& failure) {
    const std::string all = failure.what(); // "0 of 1 replicas confirmed the write in time: ..."
    const char* const done = what.word == "set"     ? "' is closed on "
                             : what.word == "erase" ? "' is open on "
                                                    : "' is counted down, if it was closed, on ";
    say("'" + printable(given.name) + done + printable(without_password(given.server)) + ", but " +
        printable(all.substr(0, all.find(':'))) +
        ". The change is not undone, and a failover may lose it. Check whether the replicas are "
        "connected and keep up (INFO replication)");
    return unavailable;
}

int at(holdfast::client& home, const look_options& given, const latch_command& what) {
    holdfast::latch of{home, {given.name}, {.required_replicas = what.replicas}};
    boost::json::object told = named(given.name);
    bool done = false;
    try {
        done = carry_out(of, given, what, told);
    } catch (const boost::system::system_error& failure) {
        if (failure.code() != holdfast::store_errc::not_replicated)
            throw;
        return report_not_replicated(given, what, failure);
    }
    const bool must_count = given.json || what.word == "count" || (what.word == "set" && !done);
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
    latch_command what;
    CLI::App expected{"", "latch"};
    expect_server(expected, given);
    expect_time(expected, "-w,--wait", "-w", what.timeout);
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
    limit_outage(given, what.timeout);

    return ask_server(inherited, given, [&](holdfast::client& home) {
        try {
            return at(home, given, what);
        } catch (const boost::system::system_error& failure) {
            if (failure.code() != holdfast::store_errc::wrong_type)
                throw;
            say_other_kind(given.name, failure);
            return int{no_lock};
        }
    });
}

} // namespace cli
