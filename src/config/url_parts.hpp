// SPDX-License-Identifier: Apache-2.0
// Splits a URL into its parts (RFC 3986), and reads values from the parts. Boost.URL is not used,
// because its errors do not name the wrong part. In addition, a program that uses Boost.URL and
// links this library statically would have its symbols twice.
#pragma once

#include <holdfast/address.hpp>
#include <holdfast/credentials.hpp>
#include <holdfast/schemes.hpp>
#include <holdfast/secret.hpp>
#include <holdfast/time.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// Parts of a URL. All parts except the ports and the fragment are percent-decoded. An empty
/// optional means that the part and its separator are missing.
struct parts {
    std::string scheme; ///< in lower case
    bool has_authority = false;
    std::string user;
    secret password;
    /// Hosts of the URL. In the URL, commas separate the hosts. The list has at least one element.
    std::vector<host_and_port> hosts{{}};
    std::string path;
    std::vector<std::string> segments; ///< parts of the path between '/'; '%2F' does not separate
    std::vector<parameter> parameters;
    std::optional<std::string> fragment;

    /// False if error messages must not show any part of the URL, because each part may belong to a
    /// password. This is the case if an '@' follows the host, because a password may contain an
    /// unencoded '/', '?' or '#'. It is also the case if a parameter is a password, because that
    /// password may contain an unencoded '&'.
    bool may_show = true;
};

/// Splits a URL into its parts. Throws `errc::invalid_argument` if the text is not a URL.
parts split(std::string_view url);

/// Returns the text in lower case if the text is a valid scheme. Otherwise returns an empty string.
std::string scheme_of(std::string_view text);

/// Returns the text that an error message shows for a part of the URL. If that part may belong to a
/// password, the text does not show the part.
std::string shown(const parts&, std::string_view given);

/// Returns the port number. Throws if the text is not a port number. The error text does not show
/// the wrong text, because that may be a password: in `redis://user:password` the host is missing,
/// so the password is in the position of the port.
std::uint16_t read_port(const parts&, const std::string& text);

/// Returns the hosts of the URL, in order. A missing port is 0. Throws for an empty host and for a
/// URL without hosts; the error text shows `example` as a correct URL.
std::vector<server_address> servers_in(const parts&, std::string_view example);

/// Result of read_length(): a length of time, or the reason why the text is invalid.
struct length {
    duration value{};
    std::string objection{}; ///< reason why the text is invalid; empty: `value` is valid
};

/// Reads a length of time such as `500ms`, `10s`, `5m`, `1h`.
length read_length(std::string_view text);

/// State of a `store_url`: the URL, and the names of the parameters that the scheme's reader has
/// asked for.
class reading {
public:
    explicit reading(const parts& of, credential_provider with = {})
        : all{of}
        , logging_in{std::move(with)} {}
    reading(const reading&) = delete;

    const parts& all;
    const credential_provider logging_in;
    std::vector<std::string> known{}; ///< names of the parameters, in the order of the calls
};

/// Reads the TLS parameters. If the URL has a TLS parameter but does not use TLS, throws an error
/// with the text `without`.
void read_tls_files(store_url&, std::optional<tls_options>& into, std::string_view without);

} // namespace holdfast::url
