// SPDX-License-Identifier: Apache-2.0
#include "store/remote/listing.hpp"

#include <algorithm>
#include <cstddef>

namespace holdfast::remote {
namespace {

/// Result of the comparison of one byte with one element of a pattern.
struct comparison {
    bool equal;
    std::size_t next; ///< position of the pattern's next element
};

/// Compares the byte with a class such as `[a-z]`. `at` is the position after the `[`. A class
/// without `]` extends to the end of the pattern.
comparison compare_class(std::string_view pattern, std::size_t at, char byte) noexcept {
    const bool negated = at < pattern.size() && pattern[at] == '^';
    at += negated ? 1 : 0;
    bool found = false;
    while (at < pattern.size() && pattern[at] != ']') {
        char low = pattern[at], high = low;
        if (low == '\\' && at + 1 < pattern.size()) {
            low = high = pattern[++at];
        } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
            at += 2;
            high = pattern[at];
        }
        found = found || (std::min(low, high) <= byte && byte <= std::max(low, high));
        ++at;
    }
    return {found != negated, std::min(at + 1, pattern.size())};
}

/// Compares a byte of a name with the element of the pattern that begins at position `at`. The
/// element is a character, `?`, or a class such as `[a-z]`, but not `*`.
comparison compare(std::string_view pattern, std::size_t at, char byte) noexcept {
    if (pattern[at] == '[')
        return compare_class(pattern, at + 1, byte);
    if (pattern[at] == '?')
        return {true, at + 1};
    if (pattern[at] == '\\' && at + 1 < pattern.size())
        ++at;
    return {pattern[at] == byte, at + 1};
}

} // namespace

bool matches(std::string_view pattern, std::string_view name) noexcept {
    std::size_t at = 0, seen = 0; // next element of the pattern, next byte of the name
    std::size_t behind_star = pattern.npos, resume = 0;
    for (;;) {
        if (at < pattern.size() && pattern[at] == '*') {
            behind_star = ++at;
            resume = seen;
            continue;
        }
        if (seen == name.size())
            return at == pattern.size();
        if (at < pattern.size()) {
            const comparison got = compare(pattern, at, name[seen]);
            if (got.equal) {
                at = got.next;
                ++seen;
                continue;
            }
        }
        if (behind_star == pattern.npos)
            return false;
        at = behind_star; // let the last `*` stand for one more byte
        seen = ++resume;
    }
}

bool is_listed(counter_kind kind, const counter_state& found) noexcept {
    return found.exists && (kind != counter_kind::permits || found.taken > 0);
}

} // namespace holdfast::remote
