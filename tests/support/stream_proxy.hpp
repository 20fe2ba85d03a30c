// SPDX-License-Identifier: Apache-2.0
// Proxy for a server that simulates network faults: connections that break at any byte, lost bytes,
// and delays.
#pragma once

#include "support/loop_thread.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::support {

enum class way { requests, answers };

/// Proxy between its own unix socket and a server. It passes all bytes on in both directions, until
/// the test causes a fault. When a call returns, its effect is complete. Thread safety: any thread
/// may call any member.
class stream_proxy {
public:
    /// Listens on `<server_socket>.proxy`. Throws `boost::system::system_error`.
    explicit stream_proxy(const std::string& server_socket);
    /// Listens on the unix socket `path`, for a server on this port of 127.0.0.1.
    stream_proxy(const std::string& path, std::uint16_t server_port);
    stream_proxy(const stream_proxy&) = delete;
    ~stream_proxy();

    std::string socket_path() const;

    /// Passes `bytes` more bytes in this direction, counted over all connections. Then cuts the
    /// connection that carried the last of them. Each call causes only one cut.
    void cut_after(way, std::size_t bytes);
    bool is_cut() const; ///< whether the last requested cut has happened

    /// Loses one reply: passes the next request that contains `text` to the server, drops the
    /// reply, and closes the connection.
    void lose_answer_to(std::string text);

    /// Stops the traffic on all existing connections without closing them, as if the other ends had
    /// vanished.
    void lose_all();
    void lose_subscribers(); ///< does the same, but only for connections with a subscription

    /// If true, accepts new connections, but passes no bytes on.
    void be_silent(bool);

    /// Holds requests back until `let_go` is called. Then they reach the server, even if the client
    /// has closed the connection meanwhile.
    void hold_back();
    void let_go();
    std::size_t bytes_held() const;

private:
    class state;
    template <typename Work>
    auto ask(Work) const;

    mutable loop_thread loop_;
    std::shared_ptr<state> state_;
};

} // namespace holdfast::support
