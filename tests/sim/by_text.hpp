// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace holdfast::sim {

/// Hash of a text, however it is kept.
struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>{}(text);
    }
};

/// Map by owners, programs and the like. Its order says nothing, so that no checker may follow it.
template <typename Value>
using by_text = std::unordered_map<std::string, Value, text_hash, std::equal_to<>>;

/// Returns the client's identity, of an owner that is written `<identity>:<number>`.
inline std::string_view client_in(std::string_view owner) {
    return owner.substr(0, owner.rfind(':'));
}

} // namespace holdfast::sim
