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

/// Of a connection that ended in an orderly way.
inline constexpr const char* closed_by_server = "closed by the server";

/// One connection, from its making to its end; a new one is another object, so what belongs to an
/// old one cannot be taken for the new one's. Moves bytes, through TLS if its destination wants
/// that. Each protocol derives its own, which knows what the bytes mean.
///
/// Whoever runs one of its loops keeps it alive meanwhile.
class byte_stream {
public:
    byte_stream(const byte_stream&) = delete;
    virtual ~byte_stream() = default;

    /// Shares the time out among the server's addresses. Throws `failure`: unreachable, or what
    /// tls_session throws.
    asio::awaitable<void> dial(std::shared_ptr<const destination>, time_point give_up_at);

    /// Where it leads, once it is dialled.
    const std::shared_ptr<const destination>& to() const { return to_; }
    /// By which of its addresses.
    const stream_endpoint& peer() const { return peer_; }

    /// What is composed here goes out with the next send().
    std::string& outbox() { return outbox_; }

    /// Writes the outbox, as much of it as the system takes at once. False: send_rest() must take
    /// care of the rest, and until it has there is no more to be sent.
    [[nodiscard]] bool send();
    asio::awaitable<void> send_rest();
    bool can_send() const { return !cut_ && sent_ == sending_.size(); }

    // The same in three steps, of which only the second may be done on any thread. With bare()
    // only.
    /// False: there is nothing to be sent, or no way to.
    bool begin_sending();
    void write_begun() noexcept;
    [[nodiscard]] bool end_sending();

    /// Waits until something arrives, which is taken. Throws `failure` when the connection ends.
    asio::awaitable<void> receive();

    /// From here on calling threads may read and write, without waking the background thread.
    void make_bare();
    /// Null: Asio has the socket.
    bare_socket* bare() { return bare_ ? &*bare_ : nullptr; }
    /// Takes what has arrived, if anything. Throws as receive(). With bare() only.
    void take_arrived();

    /// Ends it, and all loops on it. The first reason is the one that counts.
    virtual void cut(failure why);
    bool is_cut() const { return cut_.has_value(); }

    /// What it is busy with, for whoever must tell why it took too long.
    void occupied_with(std::string what) { occupation_ = std::move(what); }
    const std::string& occupation() const { return occupation_; }

protected:
    /// `patience`: how long an answer may take. `to_have_tls` completes "what answers there speaks
    /// TLS; ", and is a literal.
    byte_stream(const store_context&, duration patience, const char* to_have_tls);

    /// What is left of it for who moves bytes in another way: Asio knows the socket no more.
    struct parts {
        int socket;
        std::unique_ptr<tls_session> session; ///< null: plain
        std::shared_ptr<const destination> to;
    };
    parts take_apart();

    /// What has arrived; it is valid within the call.
    virtual void take(std::string_view received) = 0;

    /// Nothing more can be written, and what was being written is dropped. Cuts the connection.
    virtual void went_deaf(error_code why);

    /// Why there is no more to be received.
    virtual std::string end_in_words(error_code why) const;

    /// It is without TLS, and not a single byte has come.
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
    std::optional<bare_socket> bare_; // has taken its place
    std::shared_ptr<const destination> to_;
    stream_endpoint peer_;
    std::unique_ptr<tls_session> session_; // null: plain
    bool heard_ = false;                   // a single byte
    std::optional<failure> cut_;
    std::string occupation_;

    std::string outbox_;
    std::string sending_;     // stays where it is while it is being written
    std::size_t sent_ = 0;    // of sending_
    std::size_t written_ = 0; // of sending_, by the last attempt
    error_code unwritten_;    // likewise
    std::array<char, 64 * 1024> inbox_;
};

} // namespace holdfast::net
