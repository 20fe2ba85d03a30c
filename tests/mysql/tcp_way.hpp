// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/loop_thread.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace holdfast {

/// A way to a server on this machine, over TCP, which fails as a network does. A thread of its own
/// passes the bytes on, for a client that connects with blocking calls.
/// Thread safety: every member.
class tcp_way {
public:
    explicit tcp_way(std::uint16_t server_port);
    tcp_way(const tcp_way&) = delete;
    ~tcp_way();

    std::uint16_t port() const;

    /// On each new connection, only this number of bytes from the client arrive. All bytes from the
    /// server arrive.
    void lose_after(std::size_t client_bytes);
    /// New connections get these bytes instead of a server's.
    void greet_with(std::string bytes);
    /// What the clients say from now on does not arrive; they hear this instead, once.
    void answer_with(std::string bytes);
    /// From now on each byte of the server's comes by itself, up to so many; then the way ends.
    void split(std::size_t most);

    /// Resets all connections at once (RST).
    void reset_all();

private:
    class state;
    support::loop_thread loop_;
    std::shared_ptr<state> state_;
};

} // namespace holdfast
