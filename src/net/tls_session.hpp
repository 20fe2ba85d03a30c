// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct bio_st;
struct ssl_st;

namespace holdfast::net {

/// TLS as a function of bytes: what is to be said becomes what is sent, what was received becomes
/// what was said. It moves nothing by itself, so a connection writes, waits and ends with TLS
/// exactly as it does without.
///
/// Until it is established, send what seal("") gives and open() what comes.
class tls_session {
public:
    struct frees_ssl {
        void operator()(ssl_st*) const noexcept;
    };
    using ssl = std::unique_ptr<ssl_st, frees_ssl>;

    /// A client's, with all settings made. Begins the handshake.
    explicit tls_session(ssl);
    tls_session(const tls_session&) = delete;

    /// Whether a peer that begins like that speaks TLS.
    static bool is_tls(std::string_view first_bytes);

    bool established() const { return established_; }

    /// Appends to `out` what there is to be sent: TLS' own part, then `plain`. False: the session
    /// is broken, and `plain` was not sealed.
    [[nodiscard]] bool seal(std::string_view plain, std::string& out);

    /// What was said; valid until the next call. Throws `failure`: `store_errc::untrusted` if the
    /// server is not known to be the one that was meant, `store_errc::not_authenticated` if it does
    /// not accept this client, else `store_errc::tls_failed`.
    std::string_view open(std::string_view received);

    /// The server has said that no more will come. Without it, an end is a cut.
    bool ended() const { return ended_; }

    /// Appends what tells the server the same.
    void say_goodbye(std::string& out);

private:
    void take_in(std::string_view received);
    void shake_hands();
    std::size_t read_into_plain();
    void take_output(std::string& out);
    void throw_unless_more_is_needed(int result);

    std::string objection_; // to the server's certificate
    ssl ssl_;
    bio_st* const received_; // owned by ssl_, as is the other
    bio_st* const to_send_;
    std::string plain_; // a buffer that keeps its size
    bool heard_ = false;
    bool established_ = false;
    bool ended_ = false;
};

} // namespace holdfast::net
