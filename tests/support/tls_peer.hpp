// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/certificates.hpp"

#include <memory>
#include <string>
#include <string_view>

struct ssl_ctx_st;
struct ssl_st;

namespace holdfast::support {

/// Server end of one TLS connection. It works in memory, without a socket.
class tls_peer {
public:
    struct options {
        /// newest allowed version, for example TLS1_2_VERSION; 0: no limit
        int version_max = 0;
        /// file of an authority; if set, clients need a certificate of this authority
        std::string clients_from{};
    };

    tls_peer(const identity& own, const options&);
    explicit tls_peer(const identity& own)
        : tls_peer{own, options{}} {}

    /// Processes received bytes. Returns the bytes that TLS must send in reply.
    std::string take(std::string_view bytes);

    std::string say(std::string_view text);
    std::string say_goodbye();
    /// returns bytes that ask the client to change the keys of both sides; TLS 1.3
    std::string ask_for_new_keys();

    std::string heard;
    std::string refused; ///< why the connection failed, as OpenSSL reports it
    bool heard_goodbye() const;
    bool established() const;
    std::string name_asked_for() const; ///< host name that the client sent (SNI); empty: none

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
