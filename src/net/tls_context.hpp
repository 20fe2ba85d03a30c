// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/tls_session.hpp"

#include <holdfast/tls.hpp>

#include <memory>
#include <string>

struct x509_store_st;

namespace holdfast::net {

/// What the TLS connections to one server have in common.
class tls_context {
public:
    tls_context(tls_options, const std::string& host);
    tls_context(const tls_context&) = delete;

    /// With the certificates that are in the files by now. Throws `failure` (unreachable), naming
    /// the file, if they cannot be used.
    std::unique_ptr<tls_session> begin();

private:
    struct frees_store {
        void operator()(x509_store_st*) const noexcept;
    };
    x509_store_st* systems_authorities();

    const tls_options how_;
    const std::string server_name_;
    std::unique_ptr<x509_store_st, frees_store> systems_authorities_;
};

/// Throws as `begin` would because of the files. Also makes sure that OpenSSL ends, at the end of
/// the program, after whatever is being made now.
void check_files(const tls_options&);

} // namespace holdfast::net
