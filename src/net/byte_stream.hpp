// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/bare_socket.hpp"
#include "net/destination.hpp"
#include "net/failure.hpp"
#include "net/socket.hpp"

#include <holdfast/store.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::net {

/// Error text for a connection that the server closed normally.
inline constexpr const char* closed_by_server = "closed by the server";

/// Network connection that sends and receives bytes, with TLS if the destination requires it. Each
/// protocol has a derived class that interprets the bytes. An object is used for one connection
/// only; a new connection is a new object, so old events cannot be confused with events of the new
/// connection.
///
/// A coroutine that runs one of the loops keeps the object alive.
class byte_stream {
public:
    byte_stream(const byte_stream&) = delete;
    virtual ~byte_stream() = default;

    /// Connects to the server. Divides the time among the server's addresses. Throws `failure`:
    /// `unreachable`, or the errors of tls_session.
    asio::awaitable<void> dial(std::shared_ptr<const destination>, time_point give_up_at);

    /// Returns the destination. It is set by dial().
    const std::shared_ptr<const destination>& to() const { return to_; }
    /// Returns the address that the connection uses, of the addresses of the destination.
    const stream_endpoint& peer() const { return peer_; }

    /// Buffer for outgoing data; the next send() writes it.
    std::string& outbox() { return outbox_; }

    /// Writes the outbox, as much as the system accepts at once. Returns false if data is left.
    /// Then call send_rest(), and send nothing else until it has completed.
    [[nodiscard]] bool send();
    asio::awaitable<void> send_rest();
    bool can_send() const { return !cut_ && sent_ == sending_.size(); }

    // The next functions do the same as send() in three steps. Only write_begun() may run on any
    // thread. Use these functions only with bare().
    /// Prepares the outbox for writing. Returns false if there is nothing to send, or if sending is
    /// impossible.
    bool begin_sending();
    void write_begun() noexcept;
    [[nodiscard]] bool end_sending();

    /// Waits for data and passes it to take(). Throws `failure` when the connection ends.
    asio::awaitable<void> receive();

    /// Allows calling threads to read and write from now on, without waking the background thread.
    void make_bare();
    /// Returns the socket that calling threads use, or null if Asio still owns the socket.
    bare_socket* bare() { return bare_ ? &*bare_ : nullptr; }
    /// Reads the data that has arrived, if any, and passes it to take(). Throws the errors of
    /// receive(). Use it only with bare().
    void take_arrived();

    /// Ends the connection and all loops on it. If the function is called again, the first reason
    /// is kept.
    virtual void cut(failure why);
    bool is_cut() const { return cut_.has_value(); }

    /// Stores a text that says what the connection is doing, for the error text of a timeout.
    void occupied_with(std::string what) { occupation_ = std::move(what); }
    const std::string& occupation() const { return occupation_; }

protected:
    /// `patience` is the timeout of one reply. `to_have_tls` is a string literal for an error text,
    /// where it follows "what answers there speaks TLS; ".
    byte_stream(const store_context&, duration patience, const char* to_have_tls);

    /// Socket and TLS session, for code that takes over the connection. Asio no longer uses the
    /// socket then.
    struct parts {
        int socket;
        std::unique_ptr<tls_session> session; ///< null: without TLS
        std::shared_ptr<const destination> to;
    };
    parts take_apart();

    /// Handles data that has arrived. The view is valid during the call.
    virtual void take(std::string_view received) = 0;

    /// Called when writing has failed. Drops unwritten data and cuts the connection.
    virtual void went_deaf(error_code why);

    /// Returns the error text for the end of the connection.
    virtual std::string end_in_words(error_code why) const;

    /// Returns whether no data has arrived on a connection without TLS.
    bool is_silent() const { return !heard_ && !session_; }

    const store_context& home() const { return home_; }
    duration patience() const { return patience_; }

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
    const duration patience_;
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

} // namespace holdfast::net
