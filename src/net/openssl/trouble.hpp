// SPDX-License-Identifier: Apache-2.0
// Translates OpenSSL's errors into texts that say what to do.
#pragma once

#include "net/openssl/owned.hpp"
#include "net/tls_engine.hpp"

#include <exception>
#include <optional>
#include <string>

namespace holdfast::net {

/// Returns why the verification failed.
std::string objection_of(X509_STORE_CTX&);

/// Returns the error that OpenSSL has just reported for this session. `objection`: why the server's
/// certificate was refused, or empty.
tls_trouble trouble_of(const SSL&, const std::string& objection);

/// Runs `work`. Returns its error, or nothing after success. No exception leaves this function.
template <typename Work>
maybe_trouble trouble_in(const Work& work) noexcept {
    try {
        work();
        return std::nullopt;
    } catch (const tls_trouble& why) {
        return why;
    } catch (const std::exception& why) { // for example, out of memory
        return tls_trouble{store_errc::tls_failed, why.what()};
    }
}

/// Returns the first reason in OpenSSL's error queue. For a file that cannot be opened, it returns
/// the system's error text.
std::string first_reason();

} // namespace holdfast::net
