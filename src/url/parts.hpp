// SPDX-License-Identifier: Apache-2.0
// Splits a URL into its parts (RFC 3986). Boost.URL is not used, because its errors do not name the
// wrong part. Also, its header-only mode would put its symbols into every program that links the
// library statically; a program that uses Boost.URL itself would then have them twice.
#pragma once

#include <holdfast/secret.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::url {

struct parameter {
    std::string name;
    secret value; ///< value of the parameter; it may be a password
};

struct host_and_port {
    std::string host;                ///< name or address; an IPv6 address has no brackets here
    std::optional<std::string> port; ///< as written in the URL
};

/// Parts of a URL. All parts are decoded, except the ports and the fragment. An empty optional
/// means that the part and its separator are missing.
struct parts {
    std::string scheme; ///< in lower case
    bool has_authority = false;
    std::string user;
    secret password;
    /// Hosts, which commas separate in the URL; at least one element.
    std::vector<host_and_port> hosts{{}};
    std::string path;
    std::vector<std::string> segments; ///< parts of the path between '/'; '%2F' does not separate
    std::vector<parameter> parameters;
    std::optional<std::string> fragment;

    /// False: no error message may show any part, because each part may be a piece of a password.
    /// This is the case if an '@' follows the host, because a password may contain an unencoded
    /// '/', '?' or '#'. It is also the case if a parameter is a password, because it may contain an
    /// unencoded '&'.
    bool may_show = true;
};

/// Splits a URL. Throws `errc::invalid_argument`.
parts split(std::string_view url);

/// Returns the text in lower case if it is a valid scheme, else an empty string.
std::string scheme_of(std::string_view text);

/// Returns the text by which an error message shows a part of the URL.
std::string shown(const parts&, std::string_view given);

} // namespace holdfast::url
