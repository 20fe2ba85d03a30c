// SPDX-License-Identifier: Apache-2.0
#include "cli/look/lock_words.hpp"

#include <array>
#include <ctime>

namespace cli {
namespace {

using holdfast::client_card;
using holdfast::duration;
using holdfast::lock_owner;
using holdfast::lock_waiter;
using namespace std::chrono_literals;

/// Parts of an owner's text `<uuid>:<number>`. The suffix `:write` of a writer is left out.
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
    return words;
}

std::string kind_in_words(const holdfast::lock_state& lock) {
    const bool has_queue = lock.kind == holdfast::key_kind::lock && !lock.waiters.empty();
    return has_queue ? "fair lock" : to_string(lock.kind);
}

std::string owners_in_short(const holdfast::lock_state& lock) {
    return first_and_more(lock, owner_in_short);
}

std::string owners_in_words(const holdfast::lock_state& lock) {
    return first_and_more(lock, owner_in_words);
}

} // namespace cli
