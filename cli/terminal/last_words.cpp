// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/last_words.hpp"

#include "cli/exit_status.hpp"
#include "cli/server/chosen_server.hpp"
#include "cli/terminal/say.hpp"

#include <cstdlib>

namespace cli {
namespace {

/// Shortens a message. Removes `[category:number]`, and the error code's general sentence if a more
/// precise text precedes it. After an error of the server, the general sentence stays, because only
/// it says what the user can do.
std::string for_people(std::string text, const holdfast::error_code& code) {
    if (const std::size_t bracket = text.rfind(" ["); text.ends_with(']') && bracket != text.npos)
        text.erase(bracket);
    using holdfast::store_errc;
    const bool of_server = code.category() == make_error_code(store_errc::other).category();
    if (const std::string general = ": " + code.message(); !of_server && text.ends_with(general))
        text.erase(text.size() - general.size());
    // The SQL statements that create the tables are too long here. `holdfast doctor` prints them.
    if (const std::size_t statements = text.find(", and so do these statements");
        code == store_errc::not_set_up && statements != text.npos)
        text.erase(statements);
    // The server's sentence may end with a full stop before the text of this library.
    if (const std::size_t joint = text.find(".: "); joint != text.npos)
        text.erase(joint + 1, 1);
    return printable(on_one_line(text), 1000);
}

/// Adds the source of a wrong URL to the message: --url or HOLDFAST_URL. The user must know what to
/// correct, and may have forgotten the variable. An error about a URL begins with `url`.
std::string with_source(const std::string& why, const std::string& url) {
    constexpr std::string_view subject = "url: ";
    if (!why.starts_with(subject))
        return why;
    const char* const variable = std::getenv("HOLDFAST_URL");
    const bool of_environment = variable != nullptr && url == variable;
    return (of_environment ? "HOLDFAST_URL: " : "--url: ") + why.substr(subject.size());
}

} // namespace

namespace {

/// Removes all copies of the error code's general sentence. In an error of a quorum, this sentence
/// follows the reason of each node.
std::string without(const std::string& general, std::string text) {
    for (std::size_t at = text.find(general); at != text.npos; at = text.find(general))
        text.erase(at, general.size());
    return printable(on_one_line(text), 1000);
}

/// Returns whether the event describes the whole quorum. Events of single nodes are reported before
/// and after it.
bool is_of_quorum(const holdfast::event& event) {
    return std::string_view{event.text, event.text_size}.starts_with("no majority of ");
}

} // namespace

void last_words::notify(const holdfast::event& event) noexcept {
    if (event.kind == holdfast::event_kind::waited && event.text_size > 0)
        (is_of_quorum(event) ? quorums_ : text_).assign(event.text, event.text_size);
    if (event.cause == holdfast::event_cause::max_hold)
        max_hold_reached_ = true;
    if (event.kind == holdfast::event_kind::moved && tells_)
        say("locks have moved to " + printable({event.name, event.name_size}) + ": " +
            printable({event.text, event.text_size}) + " said so");
}

int last_words::report(const boost::system::system_error& failure, const std::string& url,
                       std::string_view refusal) const {
    // The last event may describe only one node of a quorum, or a cancelled request.
    const bool of_many = each_url(url).size() > 1 && failure.code() == holdfast::errc::unreachable;
    const std::string why =
        of_many ? (quorums_.empty()
                       ? "too few of them answer, and a majority is needed"
                       : without(": " + failure.code().message() + " [holdfast:1]", quorums_))
                : for_people(text_.empty() ? failure.what() : text_, failure.code());
    const std::string server = printable(without_password(url));
    if (failure.code() == holdfast::errc::invalid_argument) {
        say(with_source(why, url));
        return usage;
    }
    if (failure.code() == holdfast::errc::unreachable)
        say("cannot reach " + server + ": " + why);
    else
        say(server + " " + std::string{refusal} + ": " + why);
    return failure.code() == holdfast::store_errc::wrong_type ? no_lock : unavailable;
}

} // namespace cli
