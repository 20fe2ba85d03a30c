// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/failure.hpp"
#include "net/tls.hpp"
#include "support/certificates.hpp"
#include "support/tls_peer.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <gmock/gmock.h>

namespace holdfast::net {

/// Both ends of a TLS connection and the wire between them, which carries as many bytes at once as
/// the test likes.
class with_tls_peer : public ::testing::Test {
protected:
    using peer = support::tls_peer;
    using wanted = support::authority::wanted;

    /// A connection, as far as it gets; why it failed, if it did.
    std::optional<failure> connect(peer::options there = {}) {
        try {
            context_ = std::make_unique<tls_context>(how_, host_);
            peer_ = std::make_unique<peer>(server_, there);
            session_ = context_->begin();
            exchange();
            return std::nullopt;
        } catch (const failure& why) {
            return why;
        }
    }

    /// Until neither end has anything more to say to the other.
    void exchange() {
        for (;;) {
            std::string to_peer;
            EXPECT_TRUE(session_->seal("", to_peer));
            std::string to_us = to_peer.empty() ? "" : peer_->take(to_peer);
            if (to_us.empty())
                return;
            carry_to_us(to_us);
        }
    }

    void carry_to_us(std::string_view bytes) {
        for (; !bytes.empty(); bytes.remove_prefix(std::min(at_once_, bytes.size())))
            heard_ += session_->open(bytes.substr(0, at_once_));
    }

    void say(std::string_view text) {
        std::string sealed;
        EXPECT_TRUE(session_->seal(text, sealed));
        const std::string answer = peer_->take(sealed);
        carry_to_us(answer);
    }

    support::authority authority_;
    support::identity server_ = authority_.issue("server");
    tls_options how_{.ca_file = authority_.file()};
    std::string host_ = "localhost";
    std::size_t at_once_ = 64 * 1024;

    std::unique_ptr<tls_context> context_;
    std::unique_ptr<tls_session> session_;
    std::unique_ptr<peer> peer_;
    std::string heard_; ///< by us
};

} // namespace holdfast::net
