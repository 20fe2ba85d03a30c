// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/certificates.hpp"

#include <memory>
#include <string>
#include <string_view>

struct ssl_ctx_st;
struct ssl_st;

namespace holdfast::support {

/// The server's end of one TLS connection, in memory.
class tls_peer {
public:
    struct options {
        int version_max = 0;        ///< as TLS1_2_VERSION; 0: the newest
        std::string clients_from{}; ///< asks for a certificate from this authority (a file)
    };

    tls_peer(const identity& own, const options&);
    explicit tls_peer(const identity& own)
        : tls_peer{own, options{}} {}

    /// Takes what came, and answers what TLS itself wants to be sent.
    std::string take(std::string_view bytes);

    std::string say(std::string_view text);
    std::string say_goodbye();
    std::string ask_for_new_keys(); ///< of both sides; TLS 1.3

    std::string heard;
    std::string refused; ///< why it talks no more, in OpenSSL's words
    bool heard_goodbye() const;
    bool established() const;
    std::string name_asked_for() const; ///< SNI; empty: none

private:
    struct frees {
        void operator()(ssl_ctx_st*) const noexcept;
        void operator()(ssl_st*) const noexcept;
    };

    std::string output();
    void read();

    std::unique_ptr<ssl_st, frees> ssl_;
};

} // namespace holdfast::support
