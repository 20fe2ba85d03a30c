// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/secret.hpp>

#include <string>

namespace holdfast {

/// TLS settings of the connections to a server (TLS 1.2 or later). The server must present a
/// certificate for its name, from a trusted authority.
///
///     holdfast::client client{"rediss://db.internal?tls_ca_file=/etc/ssl/our-ca.pem"};
///     options how{.host = "db.internal", .tls = tls_options{.ca_file = "/etc/ssl/our-ca.pem"}};
///
/// Files are in PEM format. The store reads them when it is created, and throws if a file is
/// invalid. It reads them again for each connection, so a new certificate is used from the next
/// connection on.
struct tls_options {
    /// File with the certificate authorities that the client trusts. These authorities replace the
    /// system's authorities. URL parameter: tls_ca_file.
    std::string ca_file{};

    /// This client's certificate with its chain, and its private key, for servers that request a
    /// client certificate. URL parameters: tls_certificate_file, tls_key_file.
    std::string certificate_file{};
    std::string key_file{};
    secret key_password{}; ///< password of an encrypted key; not allowed in a URL

    /// Name or address that the server's certificate must be valid for. If it is a name, it is also
    /// sent to the server (SNI). If this option is empty, the client uses the host of the server's
    /// address. URL parameter: tls_server_name.
    std::string server_name{};

    /// If true, the client accepts any certificate. Anyone between client and server can then read
    /// and change all traffic, including the password. URL parameter:
    /// tls_insecure_skip_verification=yes.
    bool insecure_skip_verification = false;
};

} // namespace holdfast
