// SPDX-License-Identifier: Apache-2.0
#include "cli/look/lock_json.hpp"

#include "cli/text/utf8.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <array>
#include <cstdio>
#include <ctime>
#include <iostream>

namespace cli {
namespace {

namespace json = boost::json;

/// Replaces each byte that is not part of a valid UTF-8 character.
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

/// Formats the time by RFC 3339, in UTC.
std::string date(std::chrono::seconds since_1970) {
    const std::time_t moment = since_1970.count();
    std::tm parts{};
    std::array<char, 32> words{};
    if (::gmtime_r(&moment, &parts) == nullptr)
        return {};
    return {words.data(), std::strftime(words.data(), words.size(), "%FT%TZ", &parts)};
}

json::value card_to_json(const std::optional<holdfast::client_card>& client) {
    if (!client)
        return nullptr;
    return json::object{{"host", text_in_json(client->host)},
                        {"pid", client->pid},
                        {"program", text_in_json(client->program)},
                        {"label", text_in_json(client->label)},
                        {"since", date(client->since)}};
}

template <typename Value>
json::value or_null(const std::optional<Value>& value) {
    return value ? json::value(*value) : json::value(nullptr);
}

json::value count_or_null(const std::optional<holdfast::duration>& length) {
    return length ? json::value(length->count()) : json::value(nullptr);
}

} // namespace

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
        owners.push_back({{"owner", text_in_json(each.text)},
                          {"count", each.count},
                          {"writes", each.writes},
                          {"lease_left_ms", count_or_null(each.remaining)},
                          {"is_holdfast", each.is_holdfast},
                          {"client", card_to_json(each.client)}});
    for (const holdfast::lock_waiter& each : lock.waiters)
        waiters.push_back({{"owner", text_in_json(each.text)},
                           {"place_left_ms", count_or_null(each.remaining)},
                           {"listens", or_null(each.listens)},
                           {"is_holdfast", each.is_holdfast},
                           {"client", card_to_json(each.client)}});
    json::object made = named(lock.name);
    made["kind"] = to_string(lock.kind);
    made["type"] = text_in_json(lock.type);
    made["owners"] = std::move(owners);
    made["lease_left_ms"] = count_or_null(lock.remaining);
    made["listeners"] = or_null(lock.listeners);
    made["token"] = lock.token != 0 ? json::value(lock.token) : nullptr;
    made["last_token"] = lock.last_token != 0 ? json::value(lock.last_token) : nullptr;
    made["waiting"] = or_null(lock.waiting);
    made["waiters"] = std::move(waiters);
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
