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
    secret value; ///< which may be a password
};

struct host_and_port {
    std::string host;                ///< of an IPv6 address without its brackets
    std::optional<std::string> port; ///< as it was written
};

/// Everything decoded but for ports and the fragment. Nothing: the part is not there, its separator
/// neither.
struct parts {
    std::string scheme; ///< in lower case
    bool has_authority = false;
    std::string user;
    secret password;
    std::vector<host_and_port> hosts{{}}; ///< separated by commas; the first is always there
    std::string path;
    std::vector<std::string> segments; ///< what the '/' of the path separate; '%2F' does not
    std::vector<parameter> parameters;
    std::optional<std::string> fragment;

    /// A '@' behind the host may mean that a password had a '/', '?' or '#' in it, and a parameter
    /// that is a password may have had a '&': then any of the parts may be a piece of it, and no
    /// error may show them.
    bool may_show = true;
};

/// Throws `errc::invalid_argument`.
parts split(std::string_view url);

/// The scheme that such a text is, in lower case; empty: it is none.
std::string scheme_of(std::string_view text);

/// What errors say of a part that was given.
std::string shown(const parts&, std::string_view given);

} // namespace holdfast::url
