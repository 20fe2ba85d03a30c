// SPDX-License-Identifier: Apache-2.0
#include "redis/wire/rights.hpp"

#include "redis/wire/classify.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::redis {
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

/// Returns the line number in a text like `… script: f_1, on @user_script:13.`. Returns 0 if there
/// is none.
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

/// Returns the commands in a piece of Lua text that are called through `call`, each as an ACL
/// right.
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

/// Returns the commands that a script passes to helper functions (parts/request.lua). The helper
/// functions do not contain the names of these commands.
std::string rights_handed_on(std::string_view lua) {
    std::string all;
    for (const char* const before : {"change('", "nil, '", "undo, '"})
        if (const std::string some = rights_for(lua, before); !some.empty())
            all.append(all.empty() ? "" : " ").append(some);
    return all;
}

/// Returns the rights that a script may lack. An error without a line number comes from a `pcall`:
/// the script returned the error of the command.
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
