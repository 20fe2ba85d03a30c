// SPDX-License-Identifier: Apache-2.0
#include "redis/client/error_replies.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::redis {
namespace {

struct meaning {
    std::string_view text;
    store_errc code;
};

constexpr std::array by_first_word{
    meaning{"LOADING", store_errc::loading},
    meaning{"BUSY", store_errc::busy_script},
    meaning{"READONLY", store_errc::read_only},
    meaning{"MASTERDOWN", store_errc::master_down},
    meaning{"CLUSTERDOWN", store_errc::cluster_down},
    meaning{"TRYAGAIN", store_errc::try_again},
    meaning{"MOVED", store_errc::try_again},
    meaning{"ASK", store_errc::try_again},
    meaning{"NOREPLICAS", store_errc::no_replicas},
    meaning{"MISCONF", store_errc::disk_trouble},
    meaning{"OOM", store_errc::out_of_memory},
    meaning{"NOPERM", store_errc::no_permission},
    meaning{"NOAUTH", store_errc::not_authenticated},
    meaning{"WRONGPASS", store_errc::not_authenticated},
    meaning{"WRONGTYPE", store_errc::wrong_type},
};

constexpr std::array by_beginning{
    meaning{"max number of clients", store_errc::too_many_clients},
    meaning{"Script killed", store_errc::script_killed},
    // Error in a script of Redis 7.0.
    meaning{"The user executing the script can't", store_errc::no_permission},
    meaning{"ACL failure in script", store_errc::no_permission}, // in a script, since 7.2
    // The key is a hash of another program.
    meaning{"hash value is not an integer", store_errc::wrong_type},
};

/// Part of the error of a script without declared keys that ran while the cluster was down. The
/// script has changed nothing: a cluster does not go down during a script, so the script's first
/// command was refused.
constexpr std::string_view down_in_script = " while the cluster is down";

/// Texts in errors about a key that this node does not serve. The first is from versions up to 7.0,
/// and the second from version 8.0. The third is about a slot that no server has.
constexpr std::array absence{
    std::string_view{"attempted to access a non local key"},
    std::string_view{"because undeclared keys were accessed during rehashing"},
    std::string_view{"attempted to access a slot not served"},
};

/// Removes the text that servers before 7.0 put before an error in a script, for example `ERR Error
/// running script (call to f_…): @user_script:1: ` before `WRONGTYPE Operation against …`.
std::string_view without_report(std::string_view error) {
    if (!error.starts_with("ERR Error running script"))
        return error;
    constexpr std::string_view place = "@user_script:";
    const auto last_place = error.rfind(place);
    if (last_place == std::string_view::npos)
        return error;
    error.remove_prefix(last_place + place.size());
    const auto begin = error.find_first_not_of("0123456789: -");
    return begin == std::string_view::npos ? std::string_view{} : error.substr(begin);
}

} // namespace

store_errc classify(std::string_view error) {
    error = without_report(error);
    const std::string_view first = error.substr(0, error.find(' '));
    const auto word = std::ranges::find(by_first_word, first, &meaning::text);
    if (word != by_first_word.end())
        return word->code;
    if (error.starts_with("ERR "))
        error.remove_prefix(4);
    const auto begins = [error](const meaning& one) { return error.starts_with(one.text); };
    const auto found = std::ranges::find_if(by_beginning, begins);
    if (error.find(down_in_script) != error.npos)
        return store_errc::cluster_down;
    return found != by_beginning.end() ? found->code : store_errc::other;
}

bool was_unblocked(std::string_view error) {
    return error.starts_with("UNBLOCKED") ||
           error.starts_with("ERR WAIT cannot be used with replica instances");
}

bool tells_of_demotion(std::string_view error) {
    const store_errc code = classify(error);
    return code == store_errc::read_only || code == store_errc::master_down || was_unblocked(error);
}

bool tells_of_absence(std::string_view error) {
    return std::ranges::any_of(absence, [&](std::string_view words) {
        return error.starts_with("ERR ") && error.find(words) != error.npos;
    });
}

bool asks_for_script(std::string_view error) {
    return error.starts_with("NOSCRIPT");
}

namespace {

bool says(std::string_view error, std::string_view words) {
    return error.find(words) != error.npos;
}

/// Returns the command named in a text like `… to run the 'client|setname' command`.
std::string_view command_named_in(std::string_view error) {
    constexpr std::string_view before = "run the '";
    const std::size_t begin = error.find(before);
    if (begin == error.npos)
        return {};
    error.remove_prefix(begin + before.size());
    return error.substr(0, error.find('\''));
}

/// Returns the line number in a text like `… script: f_1, on @user_script:13.`, or 0 if there is
/// none.
std::size_t line_named_in(std::string_view error) {
    constexpr std::string_view before = "@user_script:";
    const std::size_t begin = error.find(before);
    std::size_t line = 0;
    if (begin != error.npos)
        std::from_chars(error.data() + begin + before.size(), error.data() + error.size(), line);
    return line;
}

std::string_view line_of(std::string_view text, std::size_t number) {
    for (; number > 1 && !text.empty(); --number)
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    return text.substr(0, text.find('\n'));
}

/// Returns one ACL permission for each command that the Lua text passes to the function `call`.
std::string rights_for(std::string_view lua, std::string_view call) {
    std::string all;
    for (auto at = lua.find(call); at != lua.npos; at = lua.find(call)) {
        lua.remove_prefix(at + call.size());
        const std::string right = "+" + std::string{lua.substr(0, lua.find('\''))};
        if (!says(all, right))
            all += (all.empty() ? "" : " ") + right;
    }
    return all;
}

/// Returns the ACL permissions for the commands that a script passes to helper functions
/// (parts/request.lua). The text of these functions does not name the commands.
std::string rights_handed_on(std::string_view lua) {
    std::string all;
    for (const char* const before : {"change('", "nil, '", "undo, '"})
        if (const std::string some = rights_for(lua, before); !some.empty())
            all.append(all.empty() ? "" : " ").append(some);
    return all;
}

/// Returns the permissions that a script may lack. If the error has no line number, the script
/// called the command with `pcall` and returned its error.
std::string right_for_script(std::string_view error, const script& what) {
    if (const std::size_t line = line_named_in(error)) {
        const std::string there = rights_for(line_of(what.text, line), "call('");
        return there.empty() ? rights_handed_on(what.text) : there;
    }
    return rights_for(what.text, "redis.pcall('");
}

} // namespace

std::string missing_right(std::string_view error, const script& what,
                          std::span<const std::string_view> keys) {
    if (classify(error) != store_errc::no_permission)
        return {};
    if (const std::string_view named = command_named_in(error); !named.empty())
        return "+" + std::string{named};
    if (!says(error, "access"))
        return right_for_script(error, what);
    std::string all;
    for (const std::string_view key : keys)
        all += (all.empty() ? "~" : " ~") + std::string{key};
    return all;
}

std::string missing_right(std::string_view error, std::string_view channel) {
    if (classify(error) != store_errc::no_permission)
        return {};
    if (const std::string_view named = command_named_in(error); !named.empty())
        return "+" + std::string{named};
    return "&" + std::string{channel};
}

std::string with_missing_right(std::string error, std::string_view right) {
    if (!right.empty())
        error.append(" (to be granted: ").append(right).append(")");
    return error;
}

} // namespace holdfast::redis
