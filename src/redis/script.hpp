// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace holdfast::redis {

/// One Lua script, embedded at build time (tools/embed_lua.cmake) with the digest that EVALSHA asks
/// for.
struct script {
    std::string_view name{};
    std::string_view sha1{};
    std::string_view text{};
};

} // namespace holdfast::redis
