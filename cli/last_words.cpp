// SPDX-License-Identifier: Apache-2.0
#include "cli/last_words.hpp"

#include "cli/command_line.hpp"
#include "cli/exit_status.hpp"
#include "cli/say.hpp"

namespace cli {
namespace {

/// Without the `[category:number]` that error codes put behind their text.
std::string for_people(std::string text) {
    if (const std::size_t bracket = text.rfind(" ["); text.ends_with(']') && bracket != text.npos)
        text.erase(bracket);
    return printable(text);
}

} // namespace

void last_words::notify(const holdfast::event& event) noexcept {
    if (event.kind == holdfast::event_kind::waited && event.text_size > 0)
        text_.assign(event.text, event.text_size);
}

int last_words::report(const boost::system::system_error& failure, const std::string& url) const {
    const std::string why = for_people(text_.empty() ? failure.what() : text_);
    const std::string server = printable(without_password(url));
    if (failure.code() == holdfast::errc::invalid_argument) {
        say(why);
        return usage;
    }
    if (failure.code() == holdfast::errc::unreachable)
        say("cannot reach " + server + ": " + why);
    else
        say(server + " did not give the lock: " + why);
    return unavailable;
}

} // namespace cli
