// SPDX-License-Identifier: Apache-2.0
// Proxy for a server. It simulates network faults that no server produces on demand: connections
// that break at any byte, lost bytes, and delays.
#pragma once

#include "support/loop_thread.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::support {

enum class way { requests, answers };

/// Proxy between a unix socket of its own and the server. It passes all bytes on in both
/// directions, unless a test changes that. When a call returns, its effect is complete. Thread
/// safety: any thread may call any member.
class stream_proxy {
public:
    /// Listens on `<server_socket>.proxy`. Throws `boost::system::system_error`.
    explicit stream_proxy(const std::string& server_socket);
    /// Listens on the unix socket `path`. The server listens on this port of 127.0.0.1.
    stream_proxy(const std::string& path, std::uint16_t server_port);
    stream_proxy(const stream_proxy&) = delete;
    ~stream_proxy();

    std::string socket_path() const;

    /// Passes `bytes` more bytes in this direction, counted over all connections. Then closes both
    /// sides of the connection that carried the last of these bytes. Each call causes only one cut.
    void cut_after(way, std::size_t bytes);
    bool is_cut() const; ///< whether the last requested cut has happened

    /// Passes the next request that contains `text` to the server. Then drops the reply and closes
    /// the connection.
    void lose_answer_to(std::string text);

    /// Makes all existing connections stay open but carry no bytes, as if the other ends had
    /// vanished.
    void lose_all();
    void lose_subscribers(); ///< does the same, but only for connections with a subscription

    /// Accepts new connections but carries no bytes on them, if true.
    void be_silent(bool);

    /// Holds requests back until `let_go` is called. They then reach the server, even if their
    /// client has closed the connection.
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
