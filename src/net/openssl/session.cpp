// SPDX-License-Identifier: Apache-2.0
#include "net/openssl/session.hpp"

#include "net/openssl/trouble.hpp"

#include <new>
#include <utility>

namespace holdfast::net {
namespace {

/// Stores the reason of a failed verification. The verification still fails. OpenSSL calls this
/// function while the reason is available.
int note_objection(int well, X509_STORE_CTX* context) noexcept {
    if (well == 1)
        return well;
    const auto* const session = static_cast<const SSL*>(
        X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
    *static_cast<std::string*>(SSL_get_app_data(session)) = objection_of(*context);
    return well;
}

BIO* make_buffer() {
    BIO* const made = BIO_new(BIO_s_mem());
    return made ? made : throw std::bad_alloc{};
}

} // namespace

openssl_session::openssl_session(owned_ssl prepared)
    : ssl_{std::move(prepared)}
    , received_{make_buffer()}
    , to_send_{make_buffer()} {
    SSL_set_bio(ssl_.get(), received_, to_send_);
    SSL_set_app_data(ssl_.get(), &objection_);
    if (SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE)
        SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, note_objection);
    SSL_set_connect_state(ssl_.get());
    shake_hands();
}

bool openssl_session::seal(std::string_view plain, std::string& out) {
    ERR_clear_error();
    std::size_t sealed = 0;
    const bool well =
        plain.empty() || SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &sealed) == 1;
    take_output(out);
    return well;
}

maybe_trouble openssl_session::open(std::string_view received, std::string_view& said) {
    return trouble_in([&] {
        take_in(received);
        if (!established_)
            shake_hands();
        // This call may reallocate plain_.
        const std::size_t size = established_ ? read_into_plain() : 0;
        said = std::string_view{plain_}.substr(0, size);
    });
}

void openssl_session::take_in(std::string_view received) {
    if (received.empty())
        return;
    std::size_t taken = 0;
    if (BIO_write_ex(received_, received.data(), received.size(), &taken) != 1)
        throw std::bad_alloc{};
}

void openssl_session::shake_hands() {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    established_ = result == 1;
    throw_unless_more_is_needed(result);
}

std::size_t openssl_session::read_into_plain() {
    ERR_clear_error();
    std::size_t size = 0;
    for (;;) {
        if (plain_.size() - size < SSL3_RT_MAX_PLAIN_LENGTH)
            plain_.resize(size + SSL3_RT_MAX_PLAIN_LENGTH);
        std::size_t got = 0;
        const int result =
            SSL_read_ex(ssl_.get(), plain_.data() + size, plain_.size() - size, &got);
        size += got;
        if (result == 1)
            continue;
        throw_unless_more_is_needed(result);
        return size;
    }
}

void openssl_session::throw_unless_more_is_needed(int result) {
    switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_NONE:
    case SSL_ERROR_WANT_READ:
        return;
    case SSL_ERROR_ZERO_RETURN:
        ended_ = true;
        return;
    default:
        throw trouble_of(*ssl_, objection_);
    }
}

void openssl_session::take_output(std::string& out) {
    const std::size_t before = out.size();
    out.resize(before + BIO_ctrl_pending(to_send_));
    std::size_t taken = 0;
    (void)BIO_read_ex(to_send_, out.data() + before, out.size() - before, &taken);
}

void openssl_session::say_goodbye(std::string& out) {
    ERR_clear_error();
    if (established_)
        (void)SSL_shutdown(ssl_.get());
    take_output(out);
}

} // namespace holdfast::net
