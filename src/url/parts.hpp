// SPDX-License-Identifier: Apache-2.0
// A URL taken apart (RFC 3986). Not Boost.URL: its errors name no part, and its header-only mode
// would put its symbols into every program that links the library statically, a second time where
// the program uses it too.
#pragma once

#include <holdfast/secret.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::url {

struct parameter {
    std::string name;
    std::string value;
};

/// Everything decoded but for the port. Nothing: the part is not there, its separator neither.
struct parts {
    std::string scheme; ///< in lower case
    bool has_authority = false;
    std::string user;
    secret password;
    std::string host; ///< of an IPv6 address without its brackets
    std::optional<std::string> port;
    std::string path;
    std::vector<parameter> parameters;

    /// A '@' behind the host may mean that a password had a '/', '?' or '#' in it, and that any of
    /// the parts is a piece of it. Then no error may show them.
    bool may_show = true;
};

/// Throws `errc::invalid_argument`.
parts split(std::string_view url);

/// What errors say of a part that was given.
std::string shown(const parts&, std::string_view given);

} // namespace holdfast::url
