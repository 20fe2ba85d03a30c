// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstddef>
#include <string_view>

namespace holdfast::net {

/// A connected socket that Asio does not know: whatever comes on one that it knows wakes the
/// background thread, also while another thread waits for it. The background waits by way of an
/// epoll of its own, which Asio knows; it looks away while another thread reads.
class bare_socket {
public:
    /// Its owner from then on. Throws `failure`.
    bare_socket(const asio::any_io_executor&, int socket);
    bare_socket(const bare_socket&) = delete;
    ~bare_socket();

    int number() const noexcept { return number_; }

    // As much as goes at once: `would_block` if that is nothing. Any thread.
    std::size_t write_some(std::string_view, error_code&) const noexcept;
    /// Zero without an error: the end.
    std::size_t read_some(char* into, std::size_t size, error_code&) const noexcept;

    /// In the background: until something has come that nobody else reads. It may be wrong.
    asio::awaitable<void> readable();
    asio::awaitable<void> writable();

    /// Whether another thread reads.
    void look_away(bool);
    bool looks_away() const noexcept { return looks_away_; }

    /// Whoever waits for it, on any thread, goes on.
    void shut_down();

private:
    asio::awaitable<void> wanted();
    void go_on();

    const int number_;
    asio::posix::stream_descriptor watcher_; // an epoll, of this socket alone
    bool looks_away_ = false;
    bool shut_ = false;
    asio::any_completion_handler<void()> waiter_; // swap it, never assign it: Boost 1.81
};

} // namespace holdfast::net
