// SPDX-License-Identifier: Apache-2.0
#include "wire_trace.hpp"

#include <cstdlib>
#include <fstream>
#include <regex>
#include <stdexcept>

namespace holdfast::trace {
namespace {

/// "~29900": what was left when it was recorded, with the pauses that the recording made.
constexpr std::int64_t remaining_tolerance = 500;
/// A replay makes no pauses, so it finds more left than was recorded.
constexpr std::int64_t recording_pauses = 1'500;

/// How often a command that was repeated "many" times is replayed.
constexpr int many = 5;

std::string text(const json::object& from, std::string_view key) {
    const json::value* value = from.if_contains(key);
    return value != nullptr && value->is_string() ? std::string{value->get_string()}
                                                  : std::string{};
}

std::vector<std::string> texts(const json::object& from, std::string_view key) {
    std::vector<std::string> all;
    if (const json::value* values = from.if_contains(key))
        for (const json::value& each : values->as_array())
            all.emplace_back(each.as_string());
    return all;
}

template <typename Read>
auto all(const json::object& from, std::string_view key, Read read_one) {
    std::vector<decltype(read_one(from))> read;
    if (const json::value* values = from.if_contains(key))
        for (const json::value& each : values->as_array())
            read.push_back(read_one(each.as_object()));
    return read;
}

command read_command(const json::object& from, const std::string& by) {
    command made;
    made.by = from.contains("by") ? text(from, "by") : by;
    made.is_script = from.contains("script");
    made.what = made.is_script ? text(from, "script") : text(from, "name");
    made.keys = texts(from, "keys");
    made.words = texts(from, "args");
    if (const json::value* answer = from.if_contains("reply"))
        made.answer = *answer;
    if (const json::value* times = from.if_contains("times"))
        made.times = times->is_string() ? many : static_cast<int>(times->as_int64());
    return made;
}

call read_call(const json::object& from) {
    return {text(from, "by"), text(from, "thread"), text(from, "op")};
}

/// Of the object before the point, as the header says how it was made; of some the case says it.
lock_kind kind_of(const json::object& makers, const std::string& op, const std::string& scenario) {
    const std::string maker = text(makers, op.substr(0, op.find('.')));
    const auto is_made = [&](std::string_view getter, std::string_view named) {
        return maker.starts_with(getter) || (maker.starts_with("the kind") && scenario == named);
    };
    return is_made("getSpinLock", "spin")       ? lock_kind::spin
           : is_made("getFencedLock", "fenced") ? lock_kind::fenced
                                                : lock_kind::plain;
}

step read_step(const json::object& from, const json::object& makers) {
    step read;
    read.number = static_cast<int>(from.at("step").as_int64());
    read.made = read_call(from);
    read.kind = kind_of(makers, read.made.what, text(from, "case"));
    if (const json::value* arguments = from.if_contains("args"))
        read.arguments = arguments->as_array();
    if (const json::value* result = from.if_contains("result"))
        read.result = *result;
    read.pending = from.contains("pending");
    const auto command_of = [&](const json::object& o) { return read_command(o, read.made.by); };
    const auto message_of = [](const json::object& o) {
        return support::message{text(o, "channel"), text(o, "payload")};
    };
    read.commands = all(from, "commands", command_of);
    read.messages = all(from, "messages", message_of);
    read.ended = all(from, "ended", read_call);
    if (const json::value* state = from.if_contains("state"))
        read.state = state->as_object();
    return read;
}

} // namespace

bool step::asks_for_a_lock() const {
    return made.what.find(".lock") != std::string::npos ||
           made.what.find(".tryLock") != std::string::npos;
}

bool step::is_refused_reentry() const {
    return asks_for_a_lock() && !commands.empty() && commands[0].answer &&
           commands[0].answer->is_object();
}

bool is_acquire(const command& made) {
    return made.is_script &&
           (made.what.ends_with(".acquire") || made.what.ends_with(".acquire-with-token") ||
            made.what.ends_with(".try-once"));
}

/// A recording says `CLIENT1:T2` for thread 2 of the first client.
std::string with_ids(std::string line) {
    static const std::regex first{"CLIENT1"}, second{"CLIENT2"}, other{"OTHER:"},
        thread{":T([0-9])\\b"};
    line = std::regex_replace(line, first, client1);
    line = std::regex_replace(line, second, client2);
    line = std::regex_replace(line, other, "00000000-0000-4000-8000-000000000009:");
    return std::regex_replace(line, thread, ":100$1");
}

recording read(const std::filesystem::path& file) {
    std::ifstream lines{file};
    std::string line;
    if (!std::getline(lines, line))
        throw std::runtime_error{"cannot read " + file.string()};
    const json::value header = json::parse(line);
    recording all;
    all.version = header.at("redisson").as_string();
    const json::object& makers = header.at("objects").as_object();
    while (std::getline(lines, line)) {
        const json::value each = json::parse(with_ids(line));
        const std::string name = text(each.as_object(), "case");
        if (all.scenarios.empty() || all.scenarios.back().name != name)
            all.scenarios.push_back({name, {}});
        all.scenarios.back().steps.push_back(read_step(each.as_object(), makers));
    }
    return all;
}

bool is_as_recorded(const json::value& recorded, const redis::reply& answer) {
    using kind = redis::reply::kind;
    if (recorded.is_null())
        return answer.type == kind::nil;
    if (recorded.is_int64())
        return answer.type == kind::integer && answer.integer == recorded.as_int64();
    if (recorded.is_array()) {
        bool same = answer.items.size() == recorded.as_array().size();
        for (std::size_t i = 0; same && i < answer.items.size(); ++i)
            same = is_as_recorded(recorded.as_array()[i], answer.items[i]);
        return same;
    }
    if (recorded.is_object())
        return answer.type == kind::error &&
               answer.text == std::string_view{recorded.at("error").as_string()};
    const json::string& expected = recorded.as_string();
    if (!expected.starts_with('~'))
        return answer.text == expected;
    const std::int64_t left = std::atoll(expected.c_str() + 1);
    return answer.integer >= left - remaining_tolerance &&
           answer.integer <= left + recording_pauses;
}

} // namespace holdfast::trace
