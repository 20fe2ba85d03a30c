// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/secret.hpp>

#include <string>

namespace holdfast {

/// How connections to a server are protected: by TLS 1.2 or later. The server must show a
/// certificate for its name, from an authority that is trusted here.
///
///     holdfast::client client{"rediss://db.internal?tls_ca_file=/etc/ssl/our-ca.pem"};
///     options how{.host = "db.internal", .tls = tls_options{.ca_file = "/etc/ssl/our-ca.pem"}};
///
/// Files are PEM. They are read when the store is made, which refuses wrong files, and again for
/// each connection: a new certificate is used from the next connection on.
struct tls_options {
    /// Authorities that are trusted, instead of the system's. In a URL: tls_ca_file.
    std::string ca_file{};

    /// For servers that ask for a certificate: this client's certificate, followed by its chain,
    /// and its key. In a URL: tls_certificate_file, tls_key_file.
    std::string certificate_file{};
    std::string key_file{};
    secret key_password{}; ///< if the key is encrypted; never in a URL

    /// The name (or address) that the server's certificate must be for. A name is also sent to the
    /// server (SNI). Empty: the host. In a URL: tls_server_name.
    std::string server_name{};

    /// Accepts any certificate: anyone on the way to the server can then read and change
    /// everything, the password too. In a URL: tls_insecure_skip_verification=yes.
    bool insecure_skip_verification = false;
};

} // namespace holdfast
