// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/openssl/owned.hpp"
#include "net/tls_engine.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::net {

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
    BIO* const received_; // owned by ssl_; the same is true for to_send_
    BIO* const to_send_;
    std::string plain_; // buffer that keeps its size
    bool established_ = false;
    bool ended_ = false;
};

} // namespace holdfast::net
