// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/paths.hpp"

#include <cstdint>
#include <utility>

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

/// Removes the first code point from `text` and returns it. `text` must not be empty. Returns an
/// empty result if the bytes are not UTF-8 or the code point has more than 16 bits. A server reads
/// a longer code point as two characters, and it forbids both.
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

/// Returns whether a server allows the character. The condition is copied from ZooKeeper.
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
        return "a path begins with '/'";
    if (path.size() > 1 && path.back() == '/')
        return "a path does not end with '/'";
    if (has_forbidden_letter(path))
        return "the path has a letter that ZooKeeper forbids, or is no UTF-8";
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
        return "what is below '/zookeeper' is ZooKeeper's own";
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
    if (encoded(name) != node) // another program chose this name, so it is not a lock of ours
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
            return "the name is a path here, and '/' itself can be none";
        if (std::optional<std::string> why = objection_to_path(name.text))
            return "the name is a path here: " + *why;
        return std::nullopt;
    }
    if (is_relative(name.text))
        return "the name is '" + name.text + "', which ZooKeeper forbids";
    if (root_ == "/" && name.text == "zookeeper")
        return "'/zookeeper' is ZooKeeper's own";
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

} // namespace holdfast::zookeeper
