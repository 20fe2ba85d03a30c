// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/server_answers.hpp"
#include "net/failure.hpp"
#include "runtime/remote_clock.hpp"

#include <holdfast/address.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// Interface of one connection to a server, as the pool uses it. A connection runs one call at a
/// time. A connection that has ended cannot be reopened.
class server_connection {
public:
    virtual ~server_connection() = default;

    /// Sends the statements and returns the server's answer to each statement. Throws `failure`:
    /// - unreachable: no statement can have reached the server.
    /// - outcome_unknown: the connection ended before the last answer.
    /// - the reason that was passed to `cut`, for example `errc::closed`.
    ///
    /// The caller must watch `limit()` and cut the connection at that time.
    virtual asio::awaitable<std::vector<statement_answer>>
    ask(const std::vector<std::string>& statements, time_point limit) = 0;

    /// Deadline of the running call; `time_point::max()` if no call is running.
    virtual time_point limit() const = 0;
    virtual time_point sent_at() const = 0;  ///< time at which the last call was sent
    virtual time_point heard_at() const = 0; ///< time at which the last answers came
    virtual bool transaction_open() const = 0;

    /// Cuts the connection. A running call fails with `why`. Later calls of `cut` have no effect:
    /// the reason of the first call stays.
    virtual void cut(net::failure why) noexcept = 0;
    /// Ends a connection that is no longer needed. Tells the server about the end.
    virtual void end() noexcept = 0;
    virtual bool is_cut() const = 0;
    virtual const net::failure& why() const = 0; ///< reason of the cut; call it only after the cut

    /// Checks whether the server has closed this idle connection. If so, cuts the connection.
    /// Returns whether the connection is cut.
    virtual bool has_ended() noexcept = 0;

    /// Called after the server has closed this idle connection, and the connection was cut. Not
    /// called while the connection is unwatched, which means that no code waits on its socket. A
    /// connection becomes unwatched when a calling thread itself runs a request on it.
    std::function<void()> on_lost{};
    virtual bool is_unwatched() const { return false; }
    virtual void watch() {}

    /// Returns the estimate of the server's clock.
    virtual const std::shared_ptr<runtime::remote_clock>& clock() const = 0;
};

/// A connection after its set-up, with facts about its server.
struct introduced {
    std::shared_ptr<server_connection> at;
    server_info who;
};

/// Factory of connections.
class connection_factory {
public:
    virtual ~connection_factory() = default;
    /// Connects and sets up the session before `give_up_at`. Throws `failure`. The code is never
    /// outcome_unknown.
    virtual asio::awaitable<introduced> make(const server_address&, time_point give_up_at) = 0;
    /// Returns the address as text, for messages.
    virtual std::string address_of(const server_address&) const = 0;
    virtual void close() noexcept = 0; ///< makes running connection attempts fail soon
};

} // namespace holdfast::mysql
