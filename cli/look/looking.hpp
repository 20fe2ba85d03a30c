// SPDX-License-Identifier: Apache-2.0
// Functions that are shared by the verbs (subcommands) that inspect locks without taking them.
#pragma once

#include "cli/command_line.hpp"
#include "cli/run/child_process.hpp"
#include "cli/server/server_access.hpp"
#include "cli/terminal/output.hpp"

#include <holdfast/client.hpp>
#include <holdfast/inspection.hpp>

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cli {

struct look_options {
    bool json = false;
    std::vector<std::string> urls{};
    /// Name of a lock, or a pattern for names. Each verb has its own default, which applies if the
    /// user gave no name.
    std::string name{};
    std::string server{}; ///< URL or URLs of the servers; set by `ask_server`
    /// Longest time between two polls of a waiting call. A value in the URL has priority.
    std::optional<holdfast::duration> asks_within{};
    /// Longest time that a call waits for an unreachable server. A value in the URL has priority.
    std::optional<holdfast::duration> outage_within{};
};

/// Whether the verb (subcommand) takes the name of a lock as an argument.
enum class lock_word { none, optional, required };

/// Registers the options --json and --url.
void expect_server(CLI::App&, look_options&);

/// Parses --json, --url, the lock's name, and the other registered options. If the user asked for
/// help, prints the help and returns false. Throws `usage_error` for a mistake.
bool parse_look(CLI::App&, look_options&, lock_word, arguments, std::string_view help);

/// Reads a yes-or-no answer from stdin. Returns false at the end of the input.
bool is_answered_yes();

/// Returns why `unlock` must not remove the key. Returns an empty text if `unlock` may remove the
/// key. The returned text is the end of a sentence that begins with the lock's name. `is_token`
/// means that the user said `--type token`; `unlock` may then remove any string. Without
/// `is_token`, `unlock` must not remove a string, because the string may be the data of another
/// program.
std::string objection_to_taking_away(const holdfast::lock_state&, bool is_token);

/// Removes the lock if one of the holders in `shown` still holds it. So a later holder keeps the
/// lock. Returns whether the lock was removed.
bool take_away(holdfast::client&, const std::string& name, const holdfast::lock_state& shown);

/// Types of counters that may have the name.
struct possible_counters {
    std::string types{}; ///< text for --type, for example `permits|latch`; empty if there is none
    /// Value of the key, if it is a plain number that counters of several types may use.
    std::optional<std::int64_t> number{};
};

/// Asks the store for each type of counter.
possible_counters possible_counters_of(holdfast::client&, const std::string& name);

/// Returns the message for a name that no lock has: `'x' is not a lock but a string`. If the name
/// may belong to a counter, the message names the types for --type.
std::string no_lock_in_words(holdfast::client&, const holdfast::lock_state&);

/// Makes calls wait at most for `timeout`, the value of -w, for an unreachable server. Does nothing
/// if the usual wait is shorter.
void limit_outage(look_options&, const std::optional<std::chrono::duration<double>>& timeout);

/// Returns how long a waiting call continues while its only server cannot be reached. Call it from
/// the function that `ask_server` calls.
holdfast::duration outage_timeout(const look_options&);

/// Calls `ask` and returns its result. If the call takes longer than a second, prints on a terminal
/// that the program waits for the server.
template <typename Ask>
auto answer_of_server(Ask ask) {
    std::optional<decltype(ask())> answer;
    (void)wait_visibly("the server", [&] {
        answer.emplace(ask());
        return true;
    });
    return std::move(*answer);
}

/// Writes all information about a lock, in lines for people. Control characters are replaced.
void print_lock(std::ostream&, const holdfast::lock_state&);

/// Prints a table of locks or counters on stdout. If names had to be cut, prints on stderr how to
/// see the whole names.
void print_list(const table&);

/// Returns a verb for a message about a failed request, for example "refused" in "the server
/// refused".
std::string what_server_did(const boost::system::error_code& failure);

/// Connects to the server and calls `look(client)`. `look` prints the result and returns the exit
/// status. Throws `usage_error` if the user gave several URLs.
template <typename Look>
int ask_server(const inheritance& inherited, look_options& given, Look look) {
    if (given.server.empty())
        given.server = server_urls(given.urls);
    require_one_url(given.server);
    end_with_reader(inherited);
    try {
        holdfast::options how = reaching(given.server);
        how.poll_bound = given.asks_within.value_or(how.poll_bound);
        how.unavailable_timeout = given.outage_within;
        holdfast::client home{std::move(how)};
        return look(home);
    } catch (const boost::system::system_error& failure) {
        return last_words{}.report(failure, given.server, what_server_did(failure.code()));
    }
}

} // namespace cli
