// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/tls_engine.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace holdfast::net {

/// TLS as a function of bytes: it encrypts data to be sent, and decrypts data that was received. It
/// does no I/O, so a connection writes, waits and ends in the same way with and without TLS.
///
/// Until established() is true, send the output of seal("") and pass all received data to open().
class tls_session {
public:
    /// Takes a client session that has begun the handshake.
    explicit tls_session(std::unique_ptr<tls_talk> begun)
        : talk_{std::move(begun)} {}

    /// Returns whether a peer speaks TLS, according to its first bytes.
    static bool is_tls(std::string_view first_bytes);

    bool established() const { return talk_->established(); }

    /// Appends the data to send to `out`: TLS's own messages, then `plain` encrypted. False: the
    /// session is broken, and `plain` was not encrypted.
    [[nodiscard]] bool seal(std::string_view plain, std::string& out) {
        return talk_->seal(plain, out);
    }

    /// Returns the decrypted data; valid until the next call. Throws `failure`:
    /// `store_errc::untrusted` if the server's certificate is not accepted,
    /// `store_errc::not_authenticated` if the server does not accept this client, else
    /// `store_errc::tls_failed`.
    std::string_view open(std::string_view received);

    /// Whether the server has sent close_notify. If the connection ends without it, the data may be
    /// cut off.
    bool ended() const { return talk_->ended(); }

    /// Appends our close_notify to `out`.
    void say_goodbye(std::string& out) { talk_->say_goodbye(out); }

private:
    const std::unique_ptr<tls_talk> talk_;
    bool heard_ = false;
};

} // namespace holdfast::net
