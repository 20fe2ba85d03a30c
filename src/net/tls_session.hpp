// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/tls_engine.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace holdfast::net {

/// TLS session without I/O: it encrypts data to be sent, and decrypts data that was received. The
/// connection does the I/O, so it writes, waits and ends in the same way with and without TLS.
///
/// Until established() is true, send the output of seal("") and pass all received data to open().
class tls_session {
public:
    /// Creates the session from a client session that has begun the handshake.
    explicit tls_session(std::unique_ptr<tls_talk> begun)
        : talk_{std::move(begun)} {}

    /// Returns whether a peer speaks TLS, according to its first bytes.
    static bool is_tls(std::string_view first_bytes);

    bool established() const { return talk_->established(); }

    /// Appends to `out` the data to send: TLS's own messages, and then `plain` encrypted. Returns
    /// false if the session is broken; `plain` is not encrypted then.
    [[nodiscard]] bool seal(std::string_view plain, std::string& out) {
        return talk_->seal(plain, out);
    }

    /// Decrypts received data and returns it; the view is valid until the next call. Throws
    /// `failure` with one of these codes:
    /// - `store_errc::untrusted`: the server's certificate is not accepted.
    /// - `store_errc::not_authenticated`: the server does not accept this client.
    /// - `store_errc::tls_failed`: any other error.
    std::string_view open(std::string_view received);

    /// Returns whether the server has sent close_notify. If the connection ends without
    /// close_notify, the end of the data may be missing.
    bool ended() const { return talk_->ended(); }

    /// Appends this client's close_notify to `out`.
    void say_goodbye(std::string& out) { talk_->say_goodbye(out); }

private:
    const std::unique_ptr<tls_talk> talk_;
    bool heard_ = false;
};

} // namespace holdfast::net
