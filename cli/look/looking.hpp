// SPDX-License-Identifier: Apache-2.0
// What the verbs share that ask about locks and take none.
#pragma once

#include "cli/command_line.hpp"
#include "cli/look/reaching.hpp"
#include "cli/run/inheritance.hpp"
#include "cli/server/chosen_server.hpp"
#include "cli/terminal/last_words.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/say.hpp"

#include <holdfast/client.hpp>
#include <holdfast/inspection.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cli {

struct look_options {
    bool json = false;
    std::vector<std::string> urls{};
    std::string name{};   ///< or a pattern; the verb's own where none is given
    std::string server{}; ///< the URL that was asked, or those; `ask_server` sets it
    /// The longest pause of a wait, unless the URL says it.
    std::optional<holdfast::duration> asks_within{};
};

/// Whether such a verb is told a lock.
enum class lock_word { none, optional, required };

/// Tells CLI11 of --json and --url.
void expect_server(CLI::App&, look_options&);

/// Parses --json, --url and the lock beside the options that the verb has told CLI11 to expect.
/// False: help was asked for, and has been printed. Throws `usage_error`.
bool parse_look(CLI::App&, look_options&, lock_word, arguments, std::string_view help);

/// What is typed at a question; the end of input is a no.
bool is_answered_yes();

/// Why a lock may not be taken away, in words behind its name; empty: it may. What is like a token
/// of another program's may be anything that it has written for itself: unless `is_token` says not.
std::string objection_to_taking_away(const holdfast::lock_state&, bool is_token);

/// Asks the server by `look(client)`, which prints and answers the exit status. Throws
/// `usage_error` if a quorum is given.
template <typename Look>
int ask_server(const inheritance& inherited, look_options& given, Look look) {
    if (given.server.empty())
        given.server = server_urls(given.urls);
    if (each_url(given.server).size() > 1)
        throw usage_error{"this verb asks one server: give one URL"};
    end_with_reader(inherited);
    try {
        holdfast::options how = reaching(given.server);
        how.poll_bound = given.asks_within.value_or(how.poll_bound);
        holdfast::client home{std::move(how)};
        return look(home);
    } catch (const boost::system::system_error& failure) {
        const bool refused = failure.code() == holdfast::errc::refused;
        return last_words{}.report(failure, given.server, refused ? "refused" : "did not answer");
    }
}

} // namespace cli
