// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::redis {

/// One Lua script with its SHA-1 digest, which EVALSHA needs. The script is embedded at build time
/// (tools/embed_lua.cmake).
struct script {
    std::string_view name{};
    std::string_view sha1{};
    std::string_view text{};
};

} // namespace holdfast::redis
