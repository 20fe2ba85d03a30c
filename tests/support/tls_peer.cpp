// SPDX-License-Identifier: Apache-2.0
#include "support/tls_peer.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <stdexcept>

namespace holdfast::support {
namespace {

void agree(bool done) {
    if (!done)
        throw std::runtime_error{std::string{"TLS peer: "} +
                                 ERR_error_string(ERR_peek_error(), nullptr)};
}

} // namespace

void tls_peer::frees::operator()(SSL_CTX* context) const noexcept {
    SSL_CTX_free(context);
}
void tls_peer::frees::operator()(SSL* session) const noexcept {
    SSL_free(session);
}

tls_peer::tls_peer(const identity& own, const options& how) {
    ERR_clear_error();
    const std::unique_ptr<SSL_CTX, frees> made{SSL_CTX_new(TLS_server_method())};
    SSL_CTX* const context = made.get();
    // Old TLS versions need algorithms that the system may forbid at a higher security level.
    SSL_CTX_set_security_level(context, 0);
    agree(SSL_CTX_set_min_proto_version(context, 0) == 1);
    agree(SSL_CTX_set_max_proto_version(context, how.version_max) == 1);
    agree(SSL_CTX_use_certificate_chain_file(context, own.certificate_file.c_str()) == 1);
    agree(SSL_CTX_use_PrivateKey_file(context, own.key_file.c_str(), SSL_FILETYPE_PEM) == 1);
    if (!how.clients_from.empty()) {
        agree(SSL_CTX_load_verify_file(context, how.clients_from.c_str()) == 1);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    ssl_.reset(SSL_new(context));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_.get());
}

std::string tls_peer::take(std::string_view bytes) {
    ERR_clear_error();
    std::size_t written = 0;
    if (!bytes.empty())
        agree(BIO_write_ex(SSL_get_rbio(ssl_.get()), bytes.data(), bytes.size(), &written) == 1);
    read();
    return output();
}

void tls_peer::read() {
    for (;;) {
        std::array<char, 16 * 1024> text;
        std::size_t size = 0;
        const int result = SSL_read_ex(ssl_.get(), text.data(), text.size(), &size);
        heard.append(text.data(), size);
        if (result == 1)
            continue;
        const int why = SSL_get_error(ssl_.get(), result);
        refused = why == SSL_ERROR_SSL ? ERR_reason_error_string(ERR_peek_error()) : "";
        return;
    }
}

std::string tls_peer::output() {
    std::string bytes(BIO_ctrl_pending(SSL_get_wbio(ssl_.get())), '\0');
    std::size_t taken = 0;
    (void)BIO_read_ex(SSL_get_wbio(ssl_.get()), bytes.data(), bytes.size(), &taken);
    return bytes;
}

std::string tls_peer::say(std::string_view text) {
    std::size_t written = 0;
    agree(SSL_write_ex(ssl_.get(), text.data(), text.size(), &written) == 1);
    return output();
}

std::string tls_peer::say_goodbye() {
    agree(SSL_shutdown(ssl_.get()) >= 0);
    return output();
}

std::string tls_peer::ask_for_new_keys() {
    agree(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_REQUESTED) == 1);
    agree(SSL_do_handshake(ssl_.get()) == 1);
    return output();
}

bool tls_peer::heard_goodbye() const {
    return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

bool tls_peer::established() const {
    return SSL_is_init_finished(ssl_.get()) == 1;
}

std::string tls_peer::name_asked_for() const {
    const char* const name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
    return name ? name : "";
}

} // namespace holdfast::support
