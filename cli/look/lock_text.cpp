// SPDX-License-Identifier: Apache-2.0
#include "cli/look/lock_text.hpp"

#include "cli/text/text.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <iostream>

namespace cli {
namespace {

using holdfast::client_info;
using holdfast::duration;
using holdfast::lock_owner;
using holdfast::lock_waiter;
using namespace std::chrono_literals;

/// Parts of an owner's text `<uuid>:<number>`. A writer's text has `:write` at its end, which is
/// left out.
struct owner_parts {
    std::string client, number;
};

owner_parts parts_of(const std::string& owner) {
    const std::size_t colon = owner.find(':');
    if (colon == owner.npos)
        return {owner, ""};
    const std::size_t second = owner.find(':', colon + 1);
    return {owner.substr(0, colon), owner.substr(colon + 1, second - colon - 1)};
}

/// Describes the client of an owner or a waiter.
template <typename One>
std::string who_in_words(const One& one) {
    const owner_parts parts = parts_of(one.text);
    if (const auto& client = one.client)
        return client->program + ", process " + std::to_string(client->pid) + " on " +
               client->host + (client->label.empty() ? "" : ", '" + client->label + "'") +
               ", there since " + date_in_words(client->since);
    if (one.is_holdfast)
        return "a holdfast client that does not say who it is, " + parts.client;
    if (parts.number.empty()) // tokens of other libraries have no thread number
        return "another program, " + parts.client;
    return "Redisson client " + parts.client + ", thread " + parts.number;
}

template <typename Unit>
std::string whole(duration length, const char* unit) {
    return std::to_string(std::chrono::floor<Unit>(length).count()) + unit;
}

std::string date(std::chrono::seconds since_1970, const char* form) {
    const std::time_t moment = since_1970.count();
    std::tm parts{};
    std::array<char, 32> text{};
    if (::localtime_r(&moment, &parts) == nullptr)
        return "?";
    return {text.data(), std::strftime(text.data(), text.size(), form, &parts)};
}

using days = std::chrono::duration<std::int64_t, std::ratio<86'400>>;

std::string first_and_more(const holdfast::lock_state& lock,
                           std::string (*in_form)(const lock_owner&)) {
    if (lock.owners.empty())
        return "many";
    const std::size_t others = lock.owners.size() - 1;
    return in_form(lock.owners.front()) +
           (others > 0 ? " and " + std::to_string(others) + " more" : "");
}

} // namespace

std::string in_words(duration length) {
    if (length < 1s)
        return whole<std::chrono::milliseconds>(length, "ms");
    if (length < 1min) {
        const auto tenths = length / 100ms;
        return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
    }
    if (length < 1h)
        return whole<std::chrono::minutes>(length, "m") +
               whole<std::chrono::seconds>(length % 1min, "s");
    if (length < days{1})
        return whole<std::chrono::hours>(length, "h") +
               whole<std::chrono::minutes>(length % 1h, "m");
    return whole<days>(length, "d") + whole<std::chrono::hours>(length % days{1}, "h");
}

std::string or_dash(const std::optional<duration>& time) {
    return time ? in_words(*time) : "-";
}

bool ends_with_session(const holdfast::lock_state& lock) {
    return !lock.remaining && lock.type == "nodes";
}

std::string left_in_words(const holdfast::lock_state& lock) {
    if (ends_with_session(lock))
        return "its session";
    return lock.remaining ? in_words(*lock.remaining) : "no end";
}

std::string date_in_words(std::chrono::seconds since_1970) {
    return date(since_1970, "%F %H:%M");
}

std::string date_in_short(std::chrono::seconds since_1970) {
    return date(since_1970, "%m-%d %H:%M");
}

std::string owner_in_short(const lock_owner& owner) {
    constexpr std::size_t enough_of_uuid = 8;
    const std::string side = owner.writes ? " (writes)" : "";
    if (const auto& client = owner.client)
        return client->host + ":" + std::to_string(client->pid) + " " +
               (client->label.empty() ? client->program : client->label) + side;
    const owner_parts parts = parts_of(owner.text);
    const std::string uuid = parts.client.substr(0, enough_of_uuid);
    if (!owner.is_holdfast && parts.number.empty())
        return "other " + uuid + side;
    return (owner.is_holdfast ? "holdfast " + uuid
                              : "Redisson " + uuid + " thread " + parts.number) +
           side;
}

std::string owner_in_words(const lock_owner& owner) {
    std::string words = who_in_words(owner);
    if (owner.writes)
        words += ", to write";
    if (owner.held_for)
        words += ", has held it for " + in_words(*owner.held_for);
    if (owner.count > 1)
        words += ", entered " + std::to_string(owner.count) + " times";
    if (owner.remaining)
        words += *owner.remaining > 0ms ? ", reads for another " + in_words(*owner.remaining)
                                        : ", whose lease is over";
    return words;
}

std::string waiter_in_words(const lock_waiter& waiter) {
    std::string words = who_in_words(waiter);
    if (waiter.remaining)
        words += *waiter.remaining > 0ms ? ", its place lasts " + in_words(*waiter.remaining)
                                         : ", whose place is over";
    if (waiter.listens == false)
        words += ", does not listen";
    if (waiter.waiting_for)
        words += ", has waited for " + in_words(*waiter.waiting_for);
    if (waiter.timeout_left)
        words += ", gives up in " + in_words(*waiter.timeout_left);
    if (waiter.kind == "read" || waiter.kind == "write")
        words += ", to " + waiter.kind;
    return words;
}

std::optional<duration> longest_hold(const holdfast::lock_state& lock) {
    std::optional<duration> longest;
    for (const lock_owner& each : lock.owners)
        longest = std::max(longest, each.held_for);
    return longest;
}

std::optional<duration> longest_wait(const holdfast::lock_state& lock) {
    std::optional<duration> longest;
    for (const lock_waiter& each : lock.waiters)
        longest = std::max(longest, each.waiting_for);
    return longest;
}

std::size_t waiter_count(const holdfast::lock_state& lock) {
    const auto registered =
        static_cast<std::size_t>(std::ranges::count(lock.waiters, true, &lock_waiter::registered));
    const std::size_t reported = lock.waiters.size() - registered;
    return std::max(registered, lock.waiting.value_or(0)) +
           std::max(reported, lock.reported_waiting);
}

std::string kind_in_words(const holdfast::lock_state& lock) {
    const bool has_queue = lock.kind == holdfast::key_kind::lock &&
                           std::ranges::count(lock.waiters, true, &lock_waiter::registered) > 0;
    return has_queue ? "fair lock" : to_string(lock.kind);
}

std::string owners_in_short(const holdfast::lock_state& lock) {
    return first_and_more(lock, owner_in_short);
}

std::string owners_in_words(const holdfast::lock_state& lock) {
    return first_and_more(lock, owner_in_words);
}

namespace {

namespace json = boost::json;

/// Character that replaces each byte that is not part of a valid UTF-8 character.
constexpr std::string_view replacement = "\xef\xbf\xbd"; // U+FFFD

std::string hexadecimal(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string all;
    for (const char each : bytes) {
        const auto byte = static_cast<unsigned char>(each);
        all.append({digits[byte >> 4], digits[byte & 15]});
    }
    return all;
}

json::value client_info_to_json(const std::optional<holdfast::client_info>& client) {
    if (!client)
        return nullptr;
    return json::object{{"host", text_in_json(client->host)},
                        {"pid", client->pid},
                        {"program", text_in_json(client->program)},
                        {"label", text_in_json(client->label)},
                        {"since", date_in_json(client->since)}};
}

template <typename Value>
json::value or_null(const std::optional<Value>& value) {
    return value ? json::value(*value) : json::value(nullptr);
}

json::value date_or_null(const std::optional<std::chrono::milliseconds>& since_1970) {
    if (!since_1970)
        return nullptr;
    return json::value(date_in_json(std::chrono::floor<std::chrono::seconds>(*since_1970)));
}

json::value count_or_null(const std::optional<holdfast::duration>& length) {
    return length ? json::value(length->count()) : json::value(nullptr);
}

} // namespace

std::string date_in_json(std::chrono::seconds since_1970) {
    const std::time_t moment = since_1970.count();
    std::tm parts{};
    std::array<char, 32> words{};
    if (::gmtime_r(&moment, &parts) == nullptr)
        return {};
    return {words.data(), std::strftime(words.data(), words.size(), "%FT%TZ", &parts)};
}

json::string text_in_json(std::string_view words) {
    return json::string{as_utf8(words, replacement)};
}

json::array texts_in_json(const std::vector<std::string>& all) {
    json::array made;
    for (const std::string& each : all)
        made.push_back(text_in_json(each));
    return made;
}

void add_unreachable(json::object& to, const std::vector<std::string>& servers) {
    if (!servers.empty())
        to["unreachable"] = texts_in_json(servers);
}

json::object named(std::string_view name) {
    json::object made{{"name", text_in_json(name)}};
    if (as_utf8(name, "").size() != name.size())
        made["name_hex"] = hexadecimal(name);
    return made;
}

json::object to_json(const holdfast::lock_state& lock) {
    json::array owners, waiters;
    for (const holdfast::lock_owner& each : lock.owners)
        owners.push_back(
            {{"owner", text_in_json(each.text)},
             {"count", each.count},
             {"writes", each.writes},
             {"lease_left_ms", count_or_null(each.remaining ? each.remaining : lock.remaining)},
             {"held_since", date_or_null(each.held_since)},
             {"held_ms", count_or_null(each.held_for)},
             {"is_holdfast", each.is_holdfast},
             {"client", client_info_to_json(each.client)}});
    for (const holdfast::lock_waiter& each : lock.waiters)
        waiters.push_back(
            {{"owner", text_in_json(each.text)},
             {"place_left_ms", count_or_null(each.remaining)},
             {"listens", or_null(each.listens)},
             {"registered", each.registered},
             {"wants", each.kind.empty() ? nullptr : json::value(text_in_json(each.kind))},
             {"waiting_since", date_or_null(each.waiting_since)},
             {"waiting_ms", count_or_null(each.waiting_for)},
             {"timeout_left_ms", count_or_null(each.timeout_left)},
             {"is_holdfast", each.is_holdfast},
             {"client", client_info_to_json(each.client)}});
    json::object made = named(lock.name);
    made["held"] = lock.is_held && lock.kind != holdfast::key_kind::other;
    made["kind"] = to_string(lock.kind);
    made["type"] = text_in_json(lock.type);
    made["owners"] = std::move(owners);
    made["lease_left_ms"] = count_or_null(lock.remaining);
    made["listeners"] = or_null(lock.listeners);
    made["token"] = lock.token != 0 ? json::value(lock.token) : nullptr;
    made["last_token"] = lock.last_token != 0 ? json::value(lock.last_token) : nullptr;
    made["waiting"] = or_null(lock.waiting);
    made["reported_waiting"] = lock.reported_waiting;
    made["waiters"] = std::move(waiters);
    return made;
}

json::object free_in_json(std::string_view name, std::uint64_t last_token) {
    json::object made = named(name);
    made["held"] = false;
    for (const char* const field : {"kind", "type", "owners", "lease_left_ms", "listeners", "token",
                                    "last_token", "waiting", "reported_waiting", "waiters"})
        made[field] = nullptr;
    made["owners"] = json::array{};
    made["waiters"] = json::array{};
    if (last_token != 0)
        made["last_token"] = last_token;
    return made;
}

namespace {

/// Formats the character as a JSON escape in ASCII.
std::string escaped(char32_t letter) {
    char text[8];
    std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(letter));
    return text;
}

} // namespace

void write_json(const json::object& whole) {
    std::cout << without_commands(json::serialize(whole), escaped) << '\n';
}

} // namespace cli
