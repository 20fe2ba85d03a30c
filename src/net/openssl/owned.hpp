// SPDX-License-Identifier: Apache-2.0
// Owning pointers for OpenSSL's objects. Include it only in sources that use OpenSSL.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

namespace holdfast::net {

template <auto Free>
struct freed_by {
    template <typename T>
    void operator()(T* object) const noexcept {
        Free(object);
    }
};

using owned_context = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using owned_ssl = std::unique_ptr<SSL, freed_by<SSL_free>>;
using owned_store = std::unique_ptr<X509_STORE, freed_by<X509_STORE_free>>;
using owned_names = std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>>;

} // namespace holdfast::net
