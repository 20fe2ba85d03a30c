// SPDX-License-Identifier: Apache-2.0
#include "cli/look/nodes.hpp"

#include "cli/exit_status.hpp"
#include "cli/look/lock_json.hpp"
#include "cli/terminal/say.hpp"

#include <boost/asio/use_future.hpp>
#include <boost/json/array.hpp>

#include <algorithm>
#include <future>

namespace cli {

node_list connect_all(const look_options& given) {
    node_list all;
    for (const std::string& url : each_url(given.server))
        all.push_back({without_password(url), holdfast::client{reaching(url)}});
    return all;
}

bool asks_quorum(look_options& given) {
    given.server = server_urls(given.urls);
    return each_url(given.server).size() > 1;
}

std::string failure_in_words(const boost::system::system_error& failure) {
    if (failure.code() == holdfast::errc::unreachable)
        return "it cannot be reached";
    std::string text = failure.what();
    if (const std::size_t bracket = text.rfind(" ["); text.ends_with(']') && bracket != text.npos)
        text.erase(bracket);
    return text;
}

std::vector<node_state> inspect_all(node_list& of, const std::string& name) {
    std::list<std::future<std::optional<holdfast::lock_state>>> answers;
    for (node& each : of)
        answers.push_back(each.home.async_inspect(name, holdfast::asio::use_future));
    std::vector<node_state> all;
    for (const node& each : of) {
        node_state state{.server = each.server};
        try {
            state.lock = answers.front().get();
        } catch (const boost::system::system_error& failure) {
            state.failure = failure_in_words(failure);
        }
        answers.pop_front();
        all.push_back(std::move(state));
    }
    return all;
}

namespace {

struct counts {
    std::size_t held = 0, free = 0, odd = 0, away = 0;
};

counts count(const std::vector<node_state>& all) {
    counts made;
    for (const node_state& each : all) {
        if (!each.failure.empty())
            ++made.away;
        else if (each.is_something_else())
            ++made.odd;
        else
            ++(each.is_held() ? made.held : made.free);
    }
    return made;
}

} // namespace

int standing_of(const std::vector<node_state>& all) {
    const counts found = count(all);
    const std::size_t majority = majority_of(all.size());
    if (found.held >= majority)
        return success;
    if (found.odd >= majority)
        return no_lock;
    return found.free + found.held >= majority ? is_free : unavailable;
}

std::string standing_in_words(const std::vector<node_state>& all) {
    const counts found = count(all);
    std::string words =
        "held on " + std::to_string(found.held) + " of " + std::to_string(all.size()) + " nodes";
    if (found.away > 0)
        words += ", and " + std::to_string(found.away) + " could not be asked";
    return words;
}

boost::json::array to_json(const std::vector<node_state>& all) {
    boost::json::array made;
    for (const node_state& each : all)
        made.push_back({{"server", text_in_json(each.server)},
                        {"reached", each.failure.empty()},
                        {"held", each.is_held()},
                        {"lock", each.lock ? boost::json::value(to_json(*each.lock)) : nullptr},
                        {"failure", each.failure.empty() ? boost::json::value(nullptr)
                                                         : text_in_json(each.failure)}});
    return made;
}

} // namespace cli
