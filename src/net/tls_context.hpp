// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/tls_session.hpp"

#include <holdfast/tls.hpp>

#include <memory>
#include <string>

namespace holdfast::net {

/// What the TLS connections to one server have in common.
class tls_context {
public:
    /// Reads no file yet. Throws `failure` (unreachable) if TLS cannot be had at all.
    tls_context(const tls_options&, const std::string& host);

    /// With the certificates that are in the files by now. Throws `failure` (unreachable), naming
    /// the file, if they cannot be used.
    std::unique_ptr<tls_session> begin();

private:
    const std::unique_ptr<tls_engine> engine_;
};

/// Throws as `begin` would because of the files. Also makes sure that OpenSSL ends, at the end of
/// the program, after whatever is being made now.
void check_files(const tls_options&);

} // namespace holdfast::net
