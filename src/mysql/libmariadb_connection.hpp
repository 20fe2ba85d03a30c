// SPDX-License-Identifier: Apache-2.0
// Connection to a server through libmariadb (`libmariadb_connection`), and the duplicate of its
// socket (`own_socket`).
#pragma once

#include "mysql/connection.hpp"
#include "mysql/libmariadb.hpp"
#include "runtime/blocking.hpp"
#include "runtime/monitor.hpp"

#include <holdfast/asio.hpp>

#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::mysql {

/// Duplicate of the file descriptor of libmariadb's socket. libmariadb closes its own descriptor
/// when the connection ends, while Asio may still use that number. Another thread could then open a
/// file with the same number. The duplicate prevents this.
///
/// The socket can be removed from Asio. While Asio watches the socket, arriving data wake the
/// background thread, even if another thread waits for the data.
class own_socket {
public:
    using wait_type = asio::posix::descriptor_base::wait_type;

    /// Duplicates the descriptor `theirs`. Throws `net::failure` if this is not possible.
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

/// Connection to a server, from the login to its end. Implements `server_connection`.
///
/// Requests use the non-blocking functions of libmariadb, so a connection needs no thread of its
/// own: the client's executor runs the requests. Only the login blocks; it runs on a separate
/// thread (`dial`).
///
/// A call of libmariadb must always run to its end. To end a call early, shut down the socket; the
/// call then continues until it returns its error.
///
/// If a calling thread runs its request inside the client's monitor, it waits for the answers
/// itself. The socket is then not registered with Asio, so no other thread wakes up.
class libmariadb_connection final : public server_connection,
                                    public std::enable_shared_from_this<libmariadb_connection> {
public:
    libmariadb_connection(const store_context&, handle);
    libmariadb_connection(const libmariadb_connection&) = delete;
    ~libmariadb_connection() override;

    asio::awaitable<std::vector<statement_answer>> ask(const std::vector<std::string>& statements,
                                                       time_point limit) override;
    time_point limit() const override { return limit_; }
    time_point sent_at() const override { return sent_at_; }
    time_point heard_at() const override { return heard_at_; }
    bool transaction_open() const override { return open_; }
    void cut(net::failure why) noexcept override;
    void end() noexcept override;
    bool is_cut() const override { return cut_.has_value(); }
    bool has_ended() noexcept override;
    bool is_unwatched() const override { return !cut_ && !busy_ && !watching_; }
    void watch() override;
    const net::failure& why() const override { return *cut_; }
    const std::shared_ptr<runtime::remote_clock>& clock() const override { return clock_; }

    bool over_tls() const { return over_tls_; }

private:
    class call;

    asio::awaitable<void> send(const std::string& statement);
    asio::awaitable<statement_answer> answer();
    asio::awaitable<void> read_rows(statement_answer& into);
    asio::awaitable<int> ready(int wanted);
    runtime::inline_call* inline_caller() const;
    bool wait_outside(runtime::inline_call& caller);
    bool can_be_watched();
    void stop_watching();
    void readable();
    void resume();
    bool says_something() const noexcept;
    void release() noexcept;
    [[noreturn]] void throw_lost(bool may_have_arrived) const;

    const store_context& home_;
    handle handle_;
    const bool over_tls_;
    own_socket socket_;
    runtime::monitor* const monitor_; // null: calling threads cannot run requests themselves
    runtime::outside_wait wait_;
    const std::shared_ptr<runtime::remote_clock> clock_ = std::make_shared<runtime::remote_clock>();

    // Use swap() for this handler, and no assignment, because the move assignment of its type has a
    // bug in Boost 1.81.
    asio::any_completion_handler<void()> waiter_;
    bool watching_ = false;
    std::uint64_t watch_number_ = 0;
    bool busy_ = false;
    bool open_ = false;
    std::optional<net::failure> cut_;
    time_point limit_ = time_point::max();
    time_point sent_at_{}, heard_at_{};
};

} // namespace holdfast::mysql
