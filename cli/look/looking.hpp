// SPDX-License-Identifier: Apache-2.0
// Functions shared by the verbs that ask about locks and do not take a lock.
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
    std::string name{};   ///< name of a lock, or a pattern; without an argument, the verb's default
    std::string server{}; ///< URL or URLs that were asked; `ask_server` sets it
    /// Longest interval between two polls of a wait, unless the URL says it.
    std::optional<holdfast::duration> asks_within{};
};

/// Says whether the verb takes the name of a lock.
enum class lock_word { none, optional, required };

/// Tells CLI11 to expect --json and --url.
void expect_server(CLI::App&, look_options&);

/// Parses --json, --url, the lock's name, and the options that the verb has told CLI11 to expect.
/// Returns false if help was asked for and has been printed. Throws `usage_error`.
bool parse_look(CLI::App&, look_options&, lock_word, arguments, std::string_view help);

/// Reads the answer to a question from stdin. The end of the input counts as no.
bool is_answered_yes();

/// Returns why the lock may not be removed, as the end of a sentence that begins with its name.
/// Empty if it may be removed. A key that looks like a token lock may be any value of another
/// program, so it is refused unless `is_token` is set.
std::string objection_to_taking_away(const holdfast::lock_state&, bool is_token);

/// Connects to the server and calls `look(client)`, which prints and returns the exit status.
/// Throws `usage_error` if the user gave several URLs.
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
