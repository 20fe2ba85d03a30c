// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <utility>

namespace holdfast::mysql {

/// Duplicate of the file descriptor of libmariadb's socket. libmariadb closes its own descriptor
/// when the connection ends. Another thread may then open a file with the same number before Asio
/// forgets the number.
///
/// The socket may be unregistered from Asio. Data on a registered socket wakes the background
/// thread, even while another thread waits for that data.
class own_socket {
public:
    using wait_type = asio::posix::descriptor_base::wait_type;

    /// Throws `net::failure` if the descriptor cannot be duplicated.
    own_socket(const asio::any_io_executor&, int theirs);
    own_socket(const own_socket&) = delete;
    ~own_socket() { close(); }

    bool is_open() const noexcept { return number_ >= 0; }
    int number() const noexcept { return number_; }
    bool asio_knows_it() const { return waits_.is_open(); }

    /// Registers the socket with Asio. Returns an error if the registration fails.
    error_code introduce();
    template <typename Handler>
    void async_wait(wait_type what, Handler handler) {
        waits_.async_wait(what, std::move(handler));
    }

    /// Removes the socket from Asio. A wait that is running ends with `operation_aborted`.
    void leave_asio() noexcept;
    void close() noexcept;

private:
    int number_;
    asio::posix::stream_descriptor waits_; // does not own the descriptor
};

} // namespace holdfast::mysql
