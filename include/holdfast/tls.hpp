// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/secret.hpp>

#include <string>

namespace holdfast {

/// How connections to a server are protected: TLS 1.2 or later, and a server that proves to be the
/// one that was meant, by a certificate for its name from an authority that is trusted here.
///
///     holdfast::client client{"rediss://db.internal?tls_ca_file=/etc/ssl/our-ca.pem"};
///     options how{.host = "db.internal", .tls = tls_options{.ca_file = "/etc/ssl/our-ca.pem"}};
///
/// Files are PEM. They are read when the store is made, which refuses what is wrong with them, and
/// again for each connection: a certificate that was replaced is used from the next one on.
struct tls_options {
    /// Authorities that are trusted, instead of the system's. In a URL: tls_ca_file.
    std::string ca_file{};

    /// Who this client is, where the server asks for it: its certificate with the chain behind it,
    /// and the key to it. In a URL: tls_certificate_file, tls_key_file.
    std::string certificate_file{};
    std::string key_file{};
    secret key_password{}; ///< if the key is encrypted; never in a URL

    /// The name (or address) that the server's certificate must be for, and that the server is told
    /// (SNI), if it is not the host. In a URL: tls_server_name.
    std::string server_name{};

    /// Takes any certificate for good. Then whoever is on the way to the server can read, and
    /// change, all that is said, the password too. In a URL: tls_insecure_skip_verification=yes.
    bool insecure_skip_verification = false;
};

} // namespace holdfast
