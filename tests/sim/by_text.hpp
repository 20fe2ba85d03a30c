// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace holdfast::sim {

/// Hash of a text of any string type.
struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>{}(text);
    }
};

/// Map with texts as keys, for example owners or programs. Its order is arbitrary, so no checker
/// may depend on the order.
template <typename Value>
using by_text = std::unordered_map<std::string, Value, text_hash, std::equal_to<>>;

/// Returns the client's identity from the text of an owner, `<identity>:<number>`.
inline std::string_view client_in(std::string_view owner) {
    return owner.substr(0, owner.rfind(':'));
}

} // namespace holdfast::sim
