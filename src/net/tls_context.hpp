// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/tls_session.hpp"

#include <holdfast/tls.hpp>

#include <memory>
#include <string>

namespace holdfast::net {

/// TLS settings that all connections to one server share.
class tls_context {
public:
    /// Reads no file yet. Throws `failure` (unreachable) if TLS is not available.
    tls_context(const tls_options&, const std::string& host);

    /// Starts a session with the current contents of the certificate files. Throws `failure`
    /// (unreachable) if a file cannot be used; the text names the file.
    std::unique_ptr<tls_session> begin();

private:
    const std::unique_ptr<tls_engine> engine_;
};

/// Checks the files, and throws the errors that `begin` would throw for them. The call also
/// initializes OpenSSL. If the constructor of a static object makes this call, the object is
/// destroyed before OpenSSL is cleaned up at the end of the program.
void check_files(const tls_options&);

} // namespace holdfast::net
