// SPDX-License-Identifier: Apache-2.0
// The fuzzer's bytes as a sequence of choices and pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace holdfast::fuzz {

class input {
public:
    input(const std::uint8_t* data, std::size_t size)
        : rest_{reinterpret_cast<const char*>(data), size} {}

    bool empty() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

    /// One of `count` choices.
    std::size_t choice(std::size_t count) {
        return static_cast<std::uint8_t>(piece(1).empty() ? '\0' : last_) % count;
    }

    std::string_view piece(std::size_t size) {
        const std::string_view taken = rest_.substr(0, std::min(size, rest_.size()));
        rest_.remove_prefix(taken.size());
        last_ = taken.empty() ? '\0' : taken.back();
        return taken;
    }

private:
    std::string_view rest_;
    char last_ = '\0';
};

/// An invariant of the thing under test. The fuzzer keeps the input that broke it.
inline void require(bool holds, const char* what) {
    if (holds)
        return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

} // namespace holdfast::fuzz
