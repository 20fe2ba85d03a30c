// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstddef>
#include <string_view>

namespace holdfast::net {

/// Connected socket that is not registered with Asio. Asio would wake the background thread
/// whenever data arrives, even while another thread waits for the data. The background thread waits
/// through an epoll of its own, which is registered with Asio. While another thread reads, that
/// epoll ignores the socket.
class bare_socket {
public:
    /// Takes ownership of `socket`. Throws `failure`.
    bare_socket(const asio::any_io_executor&, int socket);
    bare_socket(const bare_socket&) = delete;
    ~bare_socket();

    int number() const noexcept { return number_; }

    // Writes as much as the system accepts at once. Fails with `would_block` if the system accepts
    // nothing. Any thread may call it.
    std::size_t write_some(std::string_view, error_code&) const noexcept;
    /// Reads data that has arrived. Returns zero without an error if the server closed the
    /// connection.
    std::size_t read_some(char* into, std::size_t size, error_code&) const noexcept;

    /// Waits until data arrives that no other thread reads. Only the background thread calls it. It
    /// may return without data.
    asio::awaitable<void> readable();
    asio::awaitable<void> writable();

    /// Says whether another thread reads. If true, the background thread ignores arriving data.
    void look_away(bool);
    bool looks_away() const noexcept { return looks_away_; }

    /// Shuts the socket down, and wakes all waiting threads.
    void shut_down();

private:
    asio::awaitable<void> wanted();
    void go_on();

    const int number_;
    asio::posix::stream_descriptor watcher_; // an epoll that watches only this socket
    bool looks_away_ = false;
    bool shut_ = false;
    asio::any_completion_handler<void()> waiter_; // swap it, never assign it: bug in Boost 1.81
};

} // namespace holdfast::net
