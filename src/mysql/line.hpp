// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/facts.hpp"
#include "mysql/judgement.hpp"
#include "net/failure.hpp"
#include "runtime/remote_clock.hpp"

#include <holdfast/address.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// One connection as the pool uses it (interface). It runs one call at a time, and it cannot be
/// reopened.
class line {
public:
    virtual ~line() = default;

    /// Sends the statements and returns the server's answer to each. Throws `failure`:
    /// - unreachable: no statement can have reached the server.
    /// - outcome_unknown: the connection ended before the last answer.
    /// - the reason of the cut, such as `errc::closed`.
    ///
    /// The caller watches `limit()` and cuts the connection then.
    virtual asio::awaitable<std::vector<said>> ask(const std::vector<std::string>& statements,
                                                   time_point limit) = 0;

    /// Deadline of the running call; `time_point::max()` if no call is running.
    virtual time_point limit() const = 0;
    virtual time_point sent_at() const = 0;  ///< when the last call was sent
    virtual time_point heard_at() const = 0; ///< when its answers came
    virtual bool transaction_open() const = 0;

    /// Cuts the connection. A running call fails with `why`. If `cut` is called twice, the first
    /// reason counts.
    virtual void cut(net::failure why) noexcept = 0;
    /// Ends a connection that is not needed any more, and tells the server.
    virtual void end() noexcept = 0;
    virtual bool is_cut() const = 0;
    virtual const net::failure& why() const = 0; ///< call it only after the cut

    /// Checks whether the server has closed an idle connection; if so, cuts it. Returns whether it
    /// is cut.
    virtual bool has_ended() noexcept = 0;

    /// Called after the cut when the server has closed an idle connection. An unwatched connection
    /// is not monitored for this; a calling thread that ran the request itself leaves it unwatched.
    std::function<void()> on_lost{};
    virtual bool is_unwatched() const { return false; }
    virtual void watch() {}

    /// Estimate of the server's clock.
    virtual const std::shared_ptr<runtime::remote_clock>& clock() const = 0;
};

/// A connection that is set up, and facts about its server.
struct introduced {
    std::shared_ptr<line> at;
    portrait who;
};

/// Factory of connections.
class line_maker {
public:
    virtual ~line_maker() = default;
    /// Connects and sets the session up, by `give_up_at` at the latest. Throws `failure`; its code
    /// is never outcome_unknown.
    virtual asio::awaitable<introduced> make(const server_address&, time_point give_up_at) = 0;
    virtual std::string address_of(const server_address&) const = 0; ///< for people
    virtual void close() noexcept = 0; ///< connections that are being made fail soon
};

} // namespace holdfast::mysql
