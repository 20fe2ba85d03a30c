// SPDX-License-Identifier: Apache-2.0
#include "net/openssl/engine.hpp"

#include "net/openssl/session.hpp"
#include "net/openssl/trouble.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

namespace holdfast::net {
namespace {

void require(bool done) {
    if (!done)
        throw std::bad_alloc{}; // lack of memory is the only possible cause
}

[[noreturn]] void fail(std::string_view field, const std::string& file) {
    throw tls_trouble{std::nullopt,
                      "tls_" + std::string{field} + " " + file + ": " + first_reason()};
}

/// Gives OpenSSL the password of a key. Without this callback, OpenSSL would ask for it at the
/// terminal.
int hand_over_password(char* buffer, int size, int, void* of_key) noexcept {
    const std::string_view password = static_cast<const secret*>(of_key)->reveal();
    if (password.size() > static_cast<std::size_t>(size))
        return -1;
    std::ranges::copy(password, buffer);
    return static_cast<int>(password.size());
}

void use_own_certificate(SSL_CTX& context, const tls_options& how) {
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(&context, how.certificate_file.c_str()) != 1)
        fail("certificate_file", how.certificate_file);
    SSL_CTX_set_default_passwd_cb(&context, hand_over_password);
    SSL_CTX_set_default_passwd_cb_userdata(&context, const_cast<secret*>(&how.key_password));
    if (SSL_CTX_use_PrivateKey_file(&context, how.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(&context) != 1)
        fail("key_file", how.key_file);
}

/// Creates a context with all settings except the system's trusted authorities.
owned_context make_context(const tls_options& how) {
    owned_context made{SSL_CTX_new(TLS_client_method())};
    require(made != nullptr);
    // Keeps a higher minimum if the system sets one.
    if (SSL_CTX_get_min_proto_version(made.get()) < TLS1_2_VERSION)
        SSL_CTX_set_min_proto_version(made.get(), TLS1_2_VERSION);
    SSL_CTX_set_options(made.get(), SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(made.get(),
                       how.insecure_skip_verification ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
    ERR_clear_error();
    if (!how.ca_file.empty() && SSL_CTX_load_verify_file(made.get(), how.ca_file.c_str()) != 1)
        fail("ca_file", how.ca_file);
    if (!how.certificate_file.empty())
        use_own_certificate(*made, how);
    return made;
}

void expect_address(X509_VERIFY_PARAM* certificate, const asio::ip::address& address) {
    const auto expect = [certificate](const auto& bytes) {
        require(X509_VERIFY_PARAM_set1_ip(certificate, bytes.data(), bytes.size()) == 1);
    };
    if (address.is_v4())
        expect(address.to_v4().to_bytes());
    else
        expect(address.to_v6().to_bytes());
}

/// Sets the name that the server's certificate must be valid for. The certificate's common name
/// does not count (RFC 9525), nor does a partial wildcard such as `db*.internal`.
void expect(SSL& session, const std::string& name) {
    X509_VERIFY_PARAM* const certificate = SSL_get0_param(&session);
    error_code not_numeric;
    const auto address = asio::ip::make_address(name, not_numeric);
    if (!not_numeric)
        return expect_address(certificate, address); // SNI is only for names, not for addresses
    require(SSL_set_tlsext_host_name(&session, name.c_str()) == 1);
    X509_VERIFY_PARAM_set_hostflags(certificate, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                                     X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    require(X509_VERIFY_PARAM_set1_host(certificate, name.data(), name.size()) == 1);
}

} // namespace

openssl_engine::openssl_engine(tls_options how, std::string server_name)
    : how_{std::move(how)}
    , server_name_{std::move(server_name)} {}

maybe_trouble openssl_engine::check_files() const {
    return trouble_in([this] { (void)make_context(how_); });
}

maybe_trouble openssl_engine::begin(std::unique_ptr<tls_talk>& begun) {
    return trouble_in([&] {
        const owned_context context = make_context(how_);
        if (how_.ca_file.empty() && !how_.insecure_skip_verification)
            SSL_CTX_set1_cert_store(context.get(), systems_authorities());
        owned_ssl session{SSL_new(context.get())};
        require(session != nullptr);
        expect(*session, server_name_);
        begun = std::make_unique<openssl_session>(std::move(session));
    });
}

/// Returns the system's trusted authorities. They are read only once, because reading blocks the
/// thread for 30 ms.
X509_STORE* openssl_engine::systems_authorities() {
    if (!systems_authorities_) {
        systems_authorities_.reset(X509_STORE_new());
        require(systems_authorities_ != nullptr);
        (void)X509_STORE_set_default_paths(systems_authorities_.get());
    }
    return systems_authorities_.get();
}

} // namespace holdfast::net
