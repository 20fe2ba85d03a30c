// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/asio.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <utility>

namespace holdfast::mysql {

/// Our own number of a socket of libmariadb's. Where the connection ends, libmariadb closes its
/// own, which may be another thread's file by the time that Asio is told.
///
/// Asio need not know it: whatever comes on a socket that it knows wakes the background thread,
/// also while another thread waits for it.
class own_socket {
public:
    using wait_type = asio::posix::descriptor_base::wait_type;

    /// Throws `net::failure`.
    own_socket(const asio::any_io_executor&, int theirs);
    own_socket(const own_socket&) = delete;
    ~own_socket() { close(); }

    bool is_open() const noexcept { return number_ >= 0; }
    int number() const noexcept { return number_; }
    bool asio_knows_it() const { return waits_.is_open(); }

    /// Asio knows it from then on, unless it says why not.
    error_code introduce();
    template <typename Handler>
    void async_wait(wait_type what, Handler handler) {
        waits_.async_wait(what, std::move(handler));
    }

    /// Whoever waits here ends with `operation_aborted`.
    void leave_asio() noexcept;
    void close() noexcept;

private:
    int number_;
    asio::posix::stream_descriptor waits_; // not its owner
};

} // namespace holdfast::mysql
