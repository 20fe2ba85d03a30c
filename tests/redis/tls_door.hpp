// SPDX-License-Identifier: Apache-2.0
// A way in over TLS to a server on a unix socket, in the test's own thread: it knows what a server
// does not tell, and ends connections as the test likes.
#pragma once

#include "support/tls_peer.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast {

class tls_door {
public:
    tls_door(boost::asio::io_context&, support::identity, std::string server_socket);
    tls_door(const tls_door&) = delete;
    ~tls_door();

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    void cut();              ///< ends all connections without a word
    void say_goodbye();      ///< ends them as TLS wants it
    void only_say_goodbye(); ///< and leaves them open, as a proxy may that waits for ours
    std::size_t bytes_passed_on() const { return passed_on_; } ///< to the server; any thread

    bool silent = false; ///< whoever comes in from now on hears nothing

    std::vector<std::string> names_asked_for() const; ///< by each connection there ever was; SNI
    std::size_t goodbyes_heard() const;

private:
    struct visit;

    void accept();

    boost::asio::io_context& io_;
    const support::identity identity_;
    const std::string server_socket_;
    boost::asio::ip::tcp::acceptor acceptor_;
    std::vector<std::shared_ptr<visit>> visits_;
    std::atomic<std::size_t> passed_on_ = 0;
};

} // namespace holdfast
