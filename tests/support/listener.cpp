// SPDX-License-Identifier: Apache-2.0
#include "support/listener.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::support {

std::vector<message> listener::take() {
    ask({"PING"}, "pong");
    return std::exchange(heard_, {});
}

void listener::ask(const std::vector<std::string>& words, const std::string& answered_with) {
    redis::reply next = connection_.command(words);
    while (is_message(next)) {
        std::optional<redis::reply> more = connection_.next_message(duration{10'000});
        if (!more)
            throw std::runtime_error{"no answer to " + words.front()};
        next = std::move(*more);
    }
    const std::string& said = next.items.empty() ? next.text : next.items.front().text;
    // before the first subscription the reply to PING is PONG
    if (said != answered_with && said != "PONG")
        throw std::runtime_error{"not an answer to " + words.front() + ": " + next.text};
}

bool listener::is_message(const redis::reply& push) {
    if (push.items.empty())
        return false;
    const std::string& what = push.items.front().text;
    if (what == "message")
        heard_.push_back({push.items[1].text, push.items[2].text});
    if (what == "pmessage")
        heard_.push_back({push.items[2].text, push.items[3].text});
    return what == "message" || what == "pmessage";
}

} // namespace holdfast::support
