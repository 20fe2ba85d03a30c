// SPDX-License-Identifier: Apache-2.0
// TLS with OpenSSL: implements the interface of net/tls.hpp. Include it only in sources that use
// OpenSSL.
#pragma once

#include "net/tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::net {

// Owning pointers for OpenSSL's objects.

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

// Functions that translate OpenSSL's errors into texts with advice for the user.

/// Returns why the verification of the server's certificate failed.
std::string objection_of(X509_STORE_CTX&);

/// Returns the error that OpenSSL has just reported for this session. `objection` is the reason why
/// the server's certificate was refused, or is empty.
tls_trouble trouble_of(const SSL&, const std::string& objection);

/// Runs `work`. Returns the error of `work`, or nothing after success. No exception leaves this
/// function.
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

/// Implements the TLS of one connection (`tls_talk`) with OpenSSL and two memory buffers.
class openssl_session : public tls_talk {
public:
    /// Takes a configured client session, and begins the handshake.
    explicit openssl_session(owned_ssl);
    openssl_session(const openssl_session&) = delete; // OpenSSL keeps the address of objection_

    bool established() const override { return established_; }
    [[nodiscard]] bool seal(std::string_view plain, std::string& out) override;
    [[nodiscard]] maybe_trouble open(std::string_view received, std::string_view& said) override;
    bool ended() const override { return ended_; }
    void say_goodbye(std::string& out) override;

private:
    void take_in(std::string_view received);
    void shake_hands();
    std::size_t read_into_plain();
    void take_output(std::string& out);
    void throw_unless_more_is_needed(int result);

    std::string objection_; // reason why the server's certificate is refused
    owned_ssl ssl_;
    BIO* const received_; // owned by ssl_, as is to_send_
    BIO* const to_send_;
    std::string plain_; // buffer that keeps its size
    bool established_ = false;
    bool ended_ = false;
};

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
