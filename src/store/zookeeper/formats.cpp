// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/formats.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <tuple>

namespace holdfast::zookeeper {
namespace {

/// Part of a node's name before the number, with the kind of lock that it stands for. Longer marks
/// come first in the table, because one mark may end with another.
struct mark {
    std::string_view text;
    bool shares;
    bool of_pair;
    bool of_mutex;
};
constexpr std::array marks{
    mark{"__rlock__", true, true, false}, mark{"__READ__", true, true, false},
    mark{"__WRIT__", false, true, false}, mark{"__lock__", false, false, false},
    mark{"lock-", false, false, true},
};

constexpr std::string_view curators_prefix = "_c_";
constexpr std::size_t uuid_length = 36;
constexpr std::size_t digits_length = 32;

/// Length of the number that the server adds: ten characters, or eleven if an overflow made it
/// negative.
constexpr std::size_t number_least = 10;
constexpr std::size_t number_most = 11;

std::optional<std::int64_t> parsed(std::string_view text) {
    if (text.size() != number_least && (text.size() != number_most || text.front() != '-'))
        return std::nullopt;
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, ec] = std::from_chars(text.data(), end, value);
    if (ec != std::errc{} || stopped != end)
        return std::nullopt;
    return value;
}

bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool is_uuid(std::string_view text) {
    if (text.size() != uuid_length)
        return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        if (hyphen ? text[i] != '-' : !is_hex(text[i]))
            return false;
    }
    return true;
}

std::string uuid_of(std::string text) {
    for (const std::size_t at : {8, 13, 18, 23})
        text.insert(at, 1, '-');
    return text;
}

std::string_view mark_for(lock_kind kind) {
    return kind == lock_kind::read ? "__READ__" : kind == lock_kind::write ? "__WRIT__" : "lock-";
}

std::string_view kazoos_mark_for(lock_kind kind) {
    return kind == lock_kind::read ? "__rlock__" : "__lock__";
}

// The data of a node consists of lines, each with a word, a blank and the value.

constexpr std::string_view first_word = "holdfast";
constexpr std::size_t value_most = 255;

void add_line(std::string& to, std::string_view word, std::string_view value) {
    to += word;
    to += ' ';
    for (const char letter : value.substr(0, value_most))
        to += letter == '\n' || letter == '\0' ? ' ' : letter;
    to += '\n';
}

template <typename Number>
Number number_from(std::string_view text) {
    Number value{};
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

void take_line(client_card& into, std::string_view word, std::string_view value) {
    if (word == "host")
        into.host = value;
    else if (word == "pid")
        into.pid = number_from<std::int64_t>(value);
    else if (word == "program")
        into.program = value;
    else if (word == "label")
        into.label = value;
    else if (word == "since")
        into.since = std::chrono::seconds{number_from<std::int64_t>(value)};
}

} // namespace

std::string digits_of(const owner_id& owner) {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr std::size_t half = 8;
    std::string text;
    const auto add = [&](unsigned byte) {
        text += digits[byte >> 4 & 15];
        text += digits[byte & 15];
    };
    for (std::size_t i = 0; i < half; ++i)
        add(owner.client[i]);
    for (int shift = 56; shift >= 0; shift -= 8)
        add(static_cast<unsigned>(owner.number >> shift & 0xff));
    return text;
}

std::string node_prefix(node_form form, lock_kind kind, const owner_id& owner) {
    if (form == node_form::kazoo)
        return digits_of(owner) + std::string{kazoos_mark_for(kind)};
    return std::string{curators_prefix} + uuid_of(digits_of(owner)) + '-' +
           std::string{mark_for(kind)};
}

std::string permit_prefix(const owner_id& owner) {
    return std::string{curators_prefix} + uuid_of(permit_id(owner)) + "-lease-";
}

std::string permit_in(std::string_view node) {
    std::string digits = owner_in(node);
    std::erase(digits, '-');
    return digits;
}

std::optional<contender> contender_at(std::string_view node) {
    for (const mark& each : marks) {
        const std::size_t at = node.rfind(each.text);
        if (at == node.npos)
            continue;
        if (const auto number = parsed(node.substr(at + each.text.size())))
            return contender{node, *number, each.shares, each.of_pair, each.of_mutex};
    }
    return std::nullopt;
}

std::vector<contender> contenders_in(const std::vector<std::string>& children) {
    std::vector<contender> all;
    for (const std::string& each : children)
        if (const std::optional<contender> one = contender_at(each))
            all.push_back(*one);
    // A writer and its own read hold may have the same number. The writer then comes first.
    std::ranges::sort(all, [](const contender& one, const contender& other) {
        return std::tuple{one.number, one.shares, one.node} <
               std::tuple{other.number, other.shares, other.node};
    });
    return all;
}

std::string owner_in(std::string_view node) {
    if (node.starts_with(curators_prefix)) {
        const std::string_view rest = node.substr(curators_prefix.size());
        if (is_uuid(rest.substr(0, uuid_length)))
            return std::string{rest.substr(0, uuid_length)};
    }
    const std::string_view digits = node.substr(0, digits_length);
    if (digits.size() == digits_length && std::ranges::all_of(digits, is_hex))
        return std::string{digits};
    return std::string{node};
}

std::optional<std::int64_t> number_in(std::string_view node) {
    for (const std::size_t length : {number_most, number_least}) {
        if (node.size() < length)
            continue;
        const std::string_view end = node.substr(node.size() - length);
        if (length == number_most && end.front() != '-')
            continue;
        // In "…-0000000001" a hyphen precedes the number. In "…--2147483648" the number itself is
        // negative.
        if (length == number_most &&
            (node.size() == length || node[node.size() - length - 1] != '-'))
            continue;
        if (const auto number = parsed(end))
            return number;
    }
    return std::nullopt;
}

std::string data_of(const owner_id& owner, const std::optional<client_card>& client,
                    std::string_view above) {
    std::string data;
    add_line(data, first_word, to_string(owner));
    if (!above.empty())
        add_line(data, "above", above);
    if (!client)
        return data;
    add_line(data, "host", client->host);
    add_line(data, "pid", std::to_string(client->pid));
    add_line(data, "program", client->program);
    add_line(data, "label", client->label);
    add_line(data, "since", std::to_string(client->since.count()));
    return data;
}

std::optional<told_owner> owner_in_data(std::string_view data) {
    told_owner said;
    for (bool first = true; !data.empty(); first = false) {
        const std::size_t end = std::min(data.find('\n'), data.size());
        const std::string_view line = data.substr(0, end);
        data.remove_prefix(std::min(end + 1, data.size()));
        const std::size_t blank = std::min(line.find(' '), line.size());
        const std::string_view word = line.substr(0, blank);
        const std::string_view value = line.substr(std::min(blank + 1, line.size()));
        if (first && word != first_word)
            return std::nullopt;
        if (first) {
            said.owner = value;
            continue;
        }
        if (word == "above") {
            said.above = value;
            continue;
        }
        if (!said.client)
            said.client.emplace();
        take_line(*said.client, word, value);
    }
    if (said.owner.empty())
        return std::nullopt;
    return said;
}

} // namespace holdfast::zookeeper
