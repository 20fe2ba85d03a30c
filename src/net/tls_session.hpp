// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/tls_engine.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace holdfast::net {

/// TLS as a function of bytes: what is to be said becomes what is sent, what was received becomes
/// what was said. It moves nothing by itself, so a connection writes, waits and ends with TLS
/// exactly as it does without.
///
/// Until it is established, send what seal("") gives and open() what comes.
class tls_session {
public:
    /// A client's, which has begun the handshake.
    explicit tls_session(std::unique_ptr<tls_talk> begun)
        : talk_{std::move(begun)} {}

    /// Whether a peer that begins like that speaks TLS.
    static bool is_tls(std::string_view first_bytes);

    bool established() const { return talk_->established(); }

    /// Appends to `out` what there is to be sent: TLS' own part, then `plain`. False: the session
    /// is broken, and `plain` was not sealed.
    [[nodiscard]] bool seal(std::string_view plain, std::string& out) {
        return talk_->seal(plain, out);
    }

    /// What was said; valid until the next call. Throws `failure`: `store_errc::untrusted` if the
    /// server is not known to be the one that was meant, `store_errc::not_authenticated` if it does
    /// not accept this client, else `store_errc::tls_failed`.
    std::string_view open(std::string_view received);

    /// The server has said that no more will come. Without it, an end is a cut.
    bool ended() const { return talk_->ended(); }

    /// Appends what tells the server the same.
    void say_goodbye(std::string& out) { talk_->say_goodbye(out); }

private:
    const std::unique_ptr<tls_talk> talk_;
    bool heard_ = false;
};

} // namespace holdfast::net
