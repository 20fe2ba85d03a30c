// SPDX-License-Identifier: Apache-2.0
// Network connection that sends and receives bytes (`byte_stream`), and its socket. The file also
// has functions that look up the addresses of a host, and functions that create the error for a
// failed attempt to connect.
#pragma once

#include "net/endpoint.hpp"
#include "net/failure.hpp"

#include <holdfast/asio.hpp>
#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::net {

/// Connected socket that is not registered with Asio. Asio would wake the background thread
/// whenever data arrives, even if another thread waits for the data. So the background thread waits
/// through a separate epoll, which is registered with Asio. While another thread reads, this epoll
/// ignores the socket.
class bare_socket {
public:
    /// Takes ownership of `socket`. Throws `failure`.
    bare_socket(const asio::any_io_executor&, int socket);
    bare_socket(const bare_socket&) = delete;
    ~bare_socket();

    int number() const noexcept { return number_; }

    // Writes as much as the system accepts at once. Fails with `would_block` if the system accepts
    // nothing. Any thread may call this function.
    std::size_t write_some(std::string_view, error_code&) const noexcept;
    /// Reads data that has arrived. Returns zero without an error if the server closed the
    /// connection.
    std::size_t read_some(char* into, std::size_t size, error_code&) const noexcept;

    /// Waits for data while no other thread reads the socket. Only the background thread calls this
    /// function. The function may return although no data has arrived.
    asio::awaitable<void> readable();
    asio::awaitable<void> writable();

    /// Sets whether another thread reads the socket. While another thread reads, the background
    /// thread ignores arriving data.
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
    // Use swap() for this handler, and no assignment, because the move assignment of its type has a
    // bug in Boost 1.81.
    asio::any_completion_handler<void()> waiter_;
};

/// Error text for a connection that the server closed normally.
inline constexpr const char* closed_by_server = "closed by the server";

/// Network connection that sends and receives bytes, with TLS if the destination requires it. Each
/// protocol has a derived class that interprets the bytes. Each object serves one connection only,
/// so old events cannot be confused with events of a new connection.
///
/// A coroutine that runs one of the loops keeps the object alive.
class byte_stream {
public:
    byte_stream(const byte_stream&) = delete;
    virtual ~byte_stream() = default;

    /// Connects to the server. Divides the time among the server's addresses. Throws `failure`:
    /// `unreachable`, or the errors of tls_session.
    asio::awaitable<void> dial(std::shared_ptr<const destination>, time_point give_up_at);

    /// Returns the destination that was given to dial().
    const std::shared_ptr<const destination>& to() const { return to_; }
    /// Returns the address that the connection uses: one of the addresses of the destination.
    const stream_endpoint& peer() const { return peer_; }

    /// Buffer for outgoing data; the next send() writes it.
    std::string& outbox() { return outbox_; }

    /// Writes as much of the outbox as the system accepts at once. Returns false if data is left.
    /// The caller must then call send_rest(), and must send nothing else until send_rest() has
    /// completed.
    [[nodiscard]] bool send();
    asio::awaitable<void> send_rest();
    bool can_send() const { return !cut_ && sent_ == sending_.size(); }

    // begin_sending(), write_begun() and end_sending() together do what send() does, but
    // write_begun() may run on any thread. Call these functions only after make_bare().

    /// Prepares the outbox for writing. Returns false if there is nothing to send, or if sending is
    /// impossible.
    bool begin_sending();
    void write_begun() noexcept;
    [[nodiscard]] bool end_sending();

    /// Waits for data and passes it to take(). Throws `failure` when the connection ends.
    asio::awaitable<void> receive();

    /// Lets the threads of blocking calls read and write the socket themselves, without the
    /// background thread.
    void make_bare();
    /// Returns the socket for threads of blocking calls, or null if Asio still owns the socket.
    bare_socket* bare() { return bare_ ? &*bare_ : nullptr; }
    /// Reads the data that has arrived, if any, and passes it to take(). Throws the errors of
    /// receive(). Use it only after make_bare().
    void take_arrived();

    /// Ends the connection and all loops on it. A second call does not replace the reason of the
    /// first call.
    virtual void cut(failure why);
    bool is_cut() const { return cut_.has_value(); }

    /// Stores a text that says what the connection is doing now. If a timeout ends the attempt to
    /// connect, the error text contains the stored text.
    void occupied_with(std::string what) { occupation_ = std::move(what); }
    const std::string& occupation() const { return occupation_; }

protected:
    /// Creates the object. `timeout` is the timeout of one reply. `to_have_tls` must be a string
    /// literal. It becomes the end of the error text that begins with "what answers there speaks
    /// TLS; ".
    byte_stream(const store_context&, duration timeout, const char* to_have_tls);

    /// Socket and TLS session of this connection, for code that takes them over. After the
    /// takeover, Asio no longer uses the socket.
    struct parts {
        int socket;
        std::unique_ptr<tls_session> session; ///< null: the connection has no TLS
        std::shared_ptr<const destination> to;
    };
    parts take_apart();

    /// Handles data that has arrived. The view is valid during the call.
    virtual void take(std::string_view received) = 0;

    /// Handles a failed write: drops the data that was not written, and cuts the connection.
    virtual void went_deaf(error_code why);

    /// Returns the text that tells the user why the connection ended.
    virtual std::string end_in_words(error_code why) const;

    /// Returns whether the connection has no TLS and has received no data.
    bool is_silent() const { return !heard_ && !session_; }

    const store_context& home() const { return home_; }
    duration timeout() const { return timeout_; }

private:
    asio::awaitable<std::vector<stream_endpoint>> find_server();
    asio::awaitable<error_code> connect_to(stream_endpoint, time_point give_up_at);
    asio::awaitable<void> begin_tls();
    bool pack();
    void write_some();
    void take_in(std::size_t size, error_code failed);
    void drop_rest(error_code why);
    void take_leave();
    void hang_up();
    void throw_if_ended();
    void throw_if_cut() const;

    const store_context& home_;
    const duration timeout_;
    const char* const to_have_tls_;
    const std::unique_ptr<alarm> look_up_alarm_;
    stream_socket socket_;
    std::optional<bare_socket> bare_; // used instead of socket_ after make_bare()
    std::shared_ptr<const destination> to_;
    stream_endpoint peer_;
    std::unique_ptr<tls_session> session_; // null if the connection has no TLS
    bool heard_ = false;                   // true if some data has arrived
    std::optional<failure> cut_;
    std::string occupation_;

    std::string outbox_;
    std::string sending_;     // not moved or changed while it is written
    std::size_t sent_ = 0;    // number of bytes of sending_ that are written
    std::size_t written_ = 0; // number of bytes of sending_ that the last attempt wrote
    error_code unwritten_;    // error of the last attempt to write
    std::array<char, 64 * 1024> inbox_;
};

/// Returns the addresses of a host. The system's resolver can hang for minutes and cannot be
/// stopped. So the function stops waiting as soon as `given_up` returns true, and ignores a later
/// result of the resolver. The function calls `given_up` whenever `wake` rings. Throws `failure`
/// (unreachable).
asio::awaitable<std::vector<asio::ip::tcp::endpoint>> look_up(asio::any_io_executor,
                                                              std::string host, std::uint16_t port,
                                                              alarm& wake,
                                                              std::function<bool()> given_up);

// Functions that create the error texts of a failed attempt to connect.

/// Returns the handler for the timeout of an attempt to connect. The handler cuts the connection.
/// Its error text describes the step that the connection had reached, and contains the timeout
/// `timeout`. The connection must outlive the handler.
std::function<void()> give_up(byte_stream&, duration timeout);

/// Returns the error that ended an attempt to connect; call this function in a catch block. The
/// function accepts every exception, because the loop that reconnects must continue. An attempt to
/// connect sends no lock request, so `outcome_unknown` becomes `unreachable`.
failure trouble_of_attempt();

/// Returns the failure for callers that wait for the connection. The text of the failure names the
/// address.
failure no_connection(const std::string& address, const failure& why);

} // namespace holdfast::net
