// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/nodes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

namespace holdfast::zookeeper {
namespace {

constexpr char hex_digits[] = "0123456789ABCDEF";

bool is_plain(char letter) {
    return letter >= ' ' && letter <= '~' && letter != '%' && letter != '/';
}

std::optional<unsigned> digit(char letter) {
    for (unsigned value = 0; value < 16; ++value)
        if (hex_digits[value] == letter)
            return value;
    return std::nullopt;
}

/// Removes the first code point from `text`, which must not be empty, and returns it. Returns
/// nothing if the bytes are not UTF-8, or if the code point has more than 16 bits. A server reads
/// such a code point as two characters that it does not allow.
std::optional<std::uint32_t> next_letter(std::string_view& text) {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::uint32_t first = at(0);
    std::size_t length = 0;
    std::uint32_t letter = 0;
    if (first < 0x80) {
        length = 1;
        letter = first;
    } else if (first >= 0xc2 && first < 0xe0) {
        length = 2;
        letter = first & 0x1f;
    } else if (first >= 0xe0 && first < 0xf0) {
        length = 3;
        letter = first & 0x0f;
    } else {
        return std::nullopt;
    }
    if (text.size() < length)
        return std::nullopt;
    for (std::size_t i = 1; i < length; ++i) {
        if ((at(i) & 0xc0) != 0x80)
            return std::nullopt;
        letter = letter << 6 | (at(i) & 0x3fU);
    }
    if (length == 3 && letter < 0x800)
        return std::nullopt;
    text.remove_prefix(length);
    return letter;
}

/// Returns whether a server allows the character in a path. The code is the same as in ZooKeeper.
bool is_allowed(std::uint32_t letter) {
    return (letter >= 0x20 && letter < 0x7f) || (letter >= 0xa0 && letter < 0xd800) ||
           (letter >= 0xf900 && letter < 0xfff0);
}

bool has_forbidden_letter(std::string_view text) {
    while (!text.empty()) {
        const std::optional<std::uint32_t> letter = next_letter(text);
        if (!letter || !is_allowed(*letter))
            return true;
    }
    return false;
}

bool is_relative(std::string_view part) {
    return part == "." || part == "..";
}

std::optional<std::string> objection_to_length(std::size_t bytes) {
    if (bytes <= paths::bytes_max)
        return std::nullopt;
    return "the name has " + std::to_string(bytes) + " bytes as a node's name, more than " +
           std::to_string(paths::bytes_max);
}

} // namespace

std::optional<std::string> objection_to_path(std::string_view path) {
    if (path.empty() || path.front() != '/')
        return "a path must begin with '/'";
    if (path.size() > 1 && path.back() == '/')
        return "a path must not end with '/'";
    if (has_forbidden_letter(path))
        return "the path contains a character that ZooKeeper forbids, or is not UTF-8";
    for (std::string_view rest = path.substr(1); !rest.empty();) {
        const std::size_t end = rest.find('/');
        const std::string_view part = rest.substr(0, end);
        if (part.empty())
            return "the path has a part that is empty";
        if (is_relative(part))
            return "the path has a part '" + std::string{part} + "', which ZooKeeper forbids";
        rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    if (path == "/zookeeper" || path.starts_with("/zookeeper/"))
        return "paths below '/zookeeper' are reserved for ZooKeeper";
    return std::nullopt;
}

std::string encoded(std::string_view name) {
    std::string node;
    for (const char letter : name) {
        const auto byte = static_cast<unsigned char>(letter);
        if (is_plain(letter))
            node += letter;
        else
            node.append({'%', hex_digits[byte >> 4], hex_digits[byte & 15]});
    }
    return node;
}

std::optional<std::string> decoded(std::string_view node) {
    std::string name;
    for (std::size_t i = 0; i < node.size(); ++i) {
        if (node[i] != '%') {
            name += node[i];
            continue;
        }
        if (node.size() - i < 3)
            return std::nullopt;
        const std::optional<unsigned> high = digit(node[i + 1]);
        const std::optional<unsigned> low = digit(node[i + 2]);
        if (!high || !low)
            return std::nullopt;
        name += static_cast<char>(*high << 4 | *low);
        i += 2;
    }
    if (encoded(name) != node) // another program chose this name: no lock of ours
        return std::nullopt;
    return name;
}

std::string below(std::string_view parent, std::string_view child) {
    std::string path{parent == "/" ? std::string_view{} : parent};
    path += '/';
    path += child;
    return path;
}

std::string_view parent_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 || slash == path.npos ? std::string_view{"/"} : path.substr(0, slash);
}

std::string_view last_part(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

paths::paths(std::string root, bool names_are_paths)
    : root_{names_are_paths ? std::string{} : std::move(root)}
    , names_are_paths_{names_are_paths} {}

std::optional<std::string> paths::objection_to(const lock_name& name) const {
    if (name.text.empty())
        return "the name is empty";
    if (names_are_paths_) {
        if (std::optional<std::string> why = objection_to_length(name.text.size()))
            return why;
        if (name.text == "/")
            return "the name is a path here, and '/' itself cannot be a lock";
        if (std::optional<std::string> why = objection_to_path(name.text))
            return "the name is a path here: " + *why;
        return std::nullopt;
    }
    if (is_relative(name.text))
        return "the name is '" + name.text + "', which ZooKeeper forbids";
    if (root_ == "/" && name.text == "zookeeper")
        return "'/zookeeper' is reserved for ZooKeeper";
    return objection_to_length(encoded(name.text).size());
}

std::string paths::of(const lock_name& name) const {
    return names_are_paths_ ? name.text : below(root_, encoded(name.text));
}

std::optional<std::string> paths::name_at(std::string_view path) const {
    if (names_are_paths_)
        return std::string{path};
    if (parent_of(path) != root_)
        return std::nullopt;
    return decoded(last_part(path));
}

namespace {

/// A mark in the names of nodes (the text before the number), and the kind of lock that the mark
/// stands for. The table has longer marks first, because a long mark may end with a short one.
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

/// Least and greatest length of the number that the server appends to a node's name. If the number
/// has eleven characters, an overflow has made it negative.
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

// Words that begin the lines in a node's data. Each line consists of such a word, a blank, and a
// value.

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

void take_line(client_info& into, std::string_view word, std::string_view value) {
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
        // In "…-0000000001" the hyphen precedes the number. In "…--2147483648" the number itself is
        // negative.
        if (length == number_most &&
            (node.size() == length || node[node.size() - length - 1] != '-'))
            continue;
        if (const auto number = parsed(end))
            return number;
    }
    return std::nullopt;
}

std::string data_of(const owner_id& owner, const std::optional<client_info>& client,
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

namespace {

bool waits_for(bool shares, const contender& other) {
    return !shares || !other.shares;
}

} // namespace

standing standing_of(const std::vector<std::string>& children, std::string_view mine,
                     std::string_view aside) {
    const std::vector<contender> all = contenders_in(children);
    const auto me = std::ranges::find(all, mine, &contender::node);
    standing found;
    if (me == all.end())
        return found;
    found.there = true;
    bool after_aside = false;
    for (auto each = all.begin(); each != me; ++each) {
        if (each->node == aside) {
            after_aside = true;
            continue;
        }
        if (each->number == me->number || !waits_for(me->shares, *each))
            continue; // our own node, or both are readers
        found.behind = each->node;
        if (after_aside && !each->shares)
            found.rivals.emplace_back(each->node);
    }
    found.first = found.behind.empty();
    return found;
}

bool is_taken(const std::vector<std::string>& children, bool shares, std::string_view aside) {
    return std::ranges::any_of(children, [&](const std::string& each) {
        const std::optional<contender> other = contender_at(each);
        return other && other->node != aside && waits_for(shares, *other);
    });
}

std::vector<contender> holders_among(const std::vector<contender>& in_order) {
    std::vector<contender> holders;
    for (const contender& each : in_order) {
        const bool beside = !holders.empty() && each.number == holders.front().number;
        if (!holders.empty() && !beside && (!each.shares || !holders.front().shares))
            break;
        holders.push_back(each);
    }
    return holders;
}

const char* other_kind_than(lock_kind wanted, const std::vector<std::string>& children,
                            std::string_view mine) {
    if (is_semaphore(children))
        return words_for(lock_kind::permit);
    const std::vector<contender> all = contenders_in(children);
    if (all.empty() || all.front().node == mine)
        return nullptr;
    const bool is_pair = wanted == lock_kind::read || wanted == lock_kind::write;
    if (is_pair)
        return all.front().of_mutex ? words_for(lock_kind::plain) : nullptr;
    return all.front().of_pair ? words_for(lock_kind::read) : nullptr;
}

const char* lock_in_words(const std::vector<std::string>& children) {
    const std::vector<contender> all = contenders_in(children);
    if (all.empty())
        return nullptr;
    return words_for(all.front().of_pair ? lock_kind::read : lock_kind::plain);
}

bool is_semaphore(const std::vector<std::string>& children) {
    return std::ranges::find(children, "leases") != children.end() &&
           std::ranges::find(children, "locks") != children.end();
}

} // namespace holdfast::zookeeper
