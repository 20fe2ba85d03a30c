// SPDX-License-Identifier: Apache-2.0
// Connection to one server of an ensemble, and the handshake on a new connection.
#pragma once

#include "net/byte_stream.hpp"
#include "zookeeper/protocol.hpp"

#include <holdfast/store.hpp>
#include <holdfast/zookeeper/options.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

/// Connection that splits the received bytes into frames.
class connection final : public net::byte_stream {
public:
    connection(const store_context&, const options&);

    /// Returns the next frame of the received bytes. Returns nothing if no frame is complete.
    std::optional<std::string_view> next();

    /// Receives until a frame is complete, without a time limit. Use it only for the handshake.
    asio::awaitable<std::string> frame();

    /// Receives all bytes until the server closes the connection. This is the form of the answer to
    /// a four-letter word (a command of ZooKeeper's servers), which has no frames.
    asio::awaitable<std::string> words();

private:
    void take(std::string_view received) override;
    std::string end_in_words(error_code) const override;

    frame_reader reader_;
    std::optional<std::string> words_; // set while the answer to a four-letter word is read
};

// The handshake on a new connection, before any request. The three functions below throw
// `net::failure`.

/// Opens or resumes a session. The server may grant another session than the one that was
/// requested.
asio::awaitable<welcome> greet(connection&, const greeting&);

/// Logs in with a user name and a password. Call it on each new connection before all requests,
/// because the login belongs to the connection.
asio::awaitable<void> log_in(connection&, const credentials&);

/// Closes the session that was resumed on this connection. Afterwards the connection cannot be
/// used.
asio::awaitable<void> say_farewell(connection&);

} // namespace holdfast::zookeeper
