// SPDX-License-Identifier: Apache-2.0
// What OpenSSL's errors mean to a user, in words that say what to do.
#pragma once

#include "net/openssl/owned.hpp"
#include "net/tls_engine.hpp"

#include <exception>
#include <optional>
#include <string>

namespace holdfast::net {

/// Why the verification that has just failed in there did.
std::string objection_of(X509_STORE_CTX&);

/// What OpenSSL has just reported of this session. `objection`: to the server's certificate, empty
/// if there was none.
tls_trouble trouble_of(const SSL&, const std::string& objection);

/// What was thrown as `tls_trouble`, and nothing if it went well. No exception goes further.
template <typename Work>
maybe_trouble trouble_in(const Work& work) noexcept {
    try {
        work();
        return std::nullopt;
    } catch (const tls_trouble& why) {
        return why;
    } catch (const std::exception& why) { // no memory
        return tls_trouble{store_errc::tls_failed, why.what()};
    }
}

/// The first reason in OpenSSL's own words, a file that cannot be opened in the system's.
std::string first_reason();

} // namespace holdfast::net
