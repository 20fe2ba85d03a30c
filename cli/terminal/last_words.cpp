// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/last_words.hpp"

#include "cli/exit_status.hpp"
#include "cli/server/chosen_server.hpp"
#include "cli/terminal/say.hpp"

#include <cstdlib>

namespace cli {
namespace {

/// Without `[category:number]`, and without the code's general sentences behind words about this
/// case. Those about a server's refusal stay: its own words do not tell what to do.
std::string for_people(std::string text, const holdfast::error_code& code) {
    if (const std::size_t bracket = text.rfind(" ["); text.ends_with(']') && bracket != text.npos)
        text.erase(bracket);
    using holdfast::store_errc;
    const bool of_server = code.category() == make_error_code(store_errc::other).category();
    if (const std::string general = ": " + code.message(); !of_server && text.ends_with(general))
        text.erase(text.size() - general.size());
    // All statements that make the tables are more than a line; the doctor has them.
    if (const std::size_t statements = text.find(", and so do these statements");
        code == store_errc::not_set_up && statements != text.npos)
        text.erase(statements);
    // A server's own sentence may have a full stop, and ours comes behind it.
    if (const std::size_t joint = text.find(".: "); joint != text.npos)
        text.erase(joint + 1, 1);
    return printable(on_one_line(text), 1000);
}

/// A URL's error begins with `url`. Where the user has written it is what has to be mended, and a
/// variable is easily forgotten.
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

/// Each node has its own reason, and the code's general sentences behind it.
std::string without(const std::string& general, std::string text) {
    for (std::size_t at = text.find(general); at != text.npos; at = text.find(general))
        text.erase(at, general.size());
    return printable(on_one_line(text), 1000);
}

/// It tells of each node; those of the nodes themselves come before and behind it.
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
    // What was heard last may be of one node of a quorum, and a cancelled request at that.
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
