// SPDX-License-Identifier: Apache-2.0
// A way to a server with all that can happen to bytes on one, and that no server does on demand:
// cut anywhere, lost for good, late.
#pragma once

#include "support/loop_thread.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::support {

enum class way { requests, answers };

/// Passes on all that comes, both ways, between its own unix socket and the server's, until it is
/// told to do otherwise. What it is told it has done when the call returns.
/// Thread safety: every member.
class stream_proxy {
public:
    /// Its socket is `<server_socket>.proxy`. Throws `boost::system::system_error`.
    explicit stream_proxy(const std::string& server_socket);
    /// Of a server at that port of 127.0.0.1. Its own socket is at the path.
    stream_proxy(const std::string& path, std::uint16_t server_port);
    stream_proxy(const stream_proxy&) = delete;
    ~stream_proxy();

    std::string socket_path() const;

    /// Passes so many bytes more that way, of whichever connection, and then closes that one on
    /// both sides. Once.
    void cut_after(way, std::size_t bytes);
    bool is_cut() const; ///< as told last

    /// The next request that has `text` in it reaches the server; its answer does not come back,
    /// and the connection breaks.
    void lose_answer_to(std::string text);

    /// Connections that are there now stay, and carry nothing any more: their other ends vanished.
    void lose_all();
    void lose_ears(); ///< only those that have subscribed to something

    /// New connections are made, and carry nothing.
    void be_silent(bool);

    /// Requests wait here until they are let go; then they arrive, also of who has hung up.
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
