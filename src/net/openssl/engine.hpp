// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/openssl/owned.hpp"
#include "net/tls_engine.hpp"

#include <memory>
#include <string>

namespace holdfast::net {

/// Implements `tls_engine` with OpenSSL.
class openssl_engine : public tls_engine {
public:
    openssl_engine(tls_options, std::string server_name);

    maybe_trouble check_files() const override;
    maybe_trouble begin(std::unique_ptr<tls_talk>& begun) override;

private:
    X509_STORE* systems_authorities();

    const tls_options how_;
    const std::string server_name_;
    owned_store systems_authorities_;
};

} // namespace holdfast::net
