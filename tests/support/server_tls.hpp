// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/certificates.hpp"

#include <string>
#include <vector>

namespace holdfast::support {

/// A certificate that several servers share, and what they are started with to use it.
class server_tls {
public:
    /// As on a command line.
    std::vector<std::string> arguments() const {
        return {"--tls-cert-file",    own_.certificate_file, "--tls-key-file",     own_.key_file,
                "--tls-ca-cert-file", authority_.file(),     "--tls-auth-clients", "no"};
    }

    /// Who must be trusted.
    std::string ca_file() const { return authority_.file(); }

private:
    authority authority_;
    identity own_ = authority_.issue("server");
};

} // namespace holdfast::support
