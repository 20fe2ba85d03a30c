// SPDX-License-Identifier: Apache-2.0
// Proxy for a server that simulates network faults which no server produces on demand: connections
// that break at any byte, lost bytes, and delays.
#pragma once

#include "support/loop_thread.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::support {

enum class way { requests, answers };

/// Passes all bytes on in both directions, between its own unix socket and the server, unless it is
/// told otherwise. The effect of a call is complete when the call returns. Thread safety: every
/// member.
class stream_proxy {
public:
    /// Listens on `<server_socket>.proxy`. Throws `boost::system::system_error`.
    explicit stream_proxy(const std::string& server_socket);
    /// Listens on `path`, for a server on that port of 127.0.0.1.
    stream_proxy(const std::string& path, std::uint16_t server_port);
    stream_proxy(const stream_proxy&) = delete;
    ~stream_proxy();

    std::string socket_path() const;

    /// Passes this many more bytes in that direction, over all connections. Then closes, on both
    /// sides, the connection that carried the last of them. Works once.
    void cut_after(way, std::size_t bytes);
    bool is_cut() const; ///< whether the last ordered cut has happened

    /// Delivers the next request that contains `text` to the server, but loses its reply and breaks
    /// the connection.
    void lose_answer_to(std::string text);

    /// Makes all present connections stay open but carry nothing, as if their other ends had
    /// vanished.
    void lose_all();
    void lose_ears(); ///< only connections that have subscribed to a channel

    /// If set, new connections are accepted and carry nothing.
    void be_silent(bool);

    /// Holds requests back until `let_go`. Then they arrive, even if their client has closed the
    /// connection.
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
