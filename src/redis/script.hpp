// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::redis {

/// One Lua script with the SHA-1 digest that EVALSHA needs. It is embedded at build time
/// (tools/embed_lua.cmake).
struct script {
    std::string_view name{};
    std::string_view sha1{};
    std::string_view text{};
};

} // namespace holdfast::redis
