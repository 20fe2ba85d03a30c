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

/// One connection, as the pool uses it: statements, one call at a time. Its end is final.
class line {
public:
    virtual ~line() = default;

    /// What the server said to each, or `failure`: unreachable if it cannot have come to any,
    /// outcome_unknown if the connection ended before the last answer; `errc::closed` and the like
    /// if it was cut for that reason. Whoever watches `limit()` cuts it then.
    virtual asio::awaitable<std::vector<said>> ask(const std::vector<std::string>& statements,
                                                   time_point limit) = 0;

    /// When the call that is under way must have ended; never, if none is.
    virtual time_point limit() const = 0;
    virtual time_point sent_at() const = 0;  ///< the last call
    virtual time_point heard_at() const = 0; ///< and its answers
    virtual bool transaction_open() const = 0;

    /// Ends it; a call that is under way ends with this failure. The first reason counts.
    virtual void cut(net::failure why) noexcept = 0;
    /// The same of one that is not needed any more, with a word to the server.
    virtual void end() noexcept = 0;
    virtual bool is_cut() const = 0;
    virtual const net::failure& why() const = 0; ///< it was cut

    /// Looks whether the server has hung up meanwhile; then it is cut. Of one that is idle.
    virtual bool has_ended() noexcept = 0;

    /// Called when the server has hung up while nothing was asked, after the cut. Of one that is
    /// unwatched it is not seen, which is how a calling thread leaves it that asked there itself.
    std::function<void()> on_lost{};
    virtual bool is_unwatched() const { return false; }
    virtual void watch() {}

    /// What is known of the clock at the other end.
    virtual const std::shared_ptr<runtime::remote_clock>& clock() const = 0;
};

/// A line that is set up, and who is at the other end.
struct introduced {
    std::shared_ptr<line> at;
    portrait who;
};

/// Makes lines.
class line_maker {
public:
    virtual ~line_maker() = default;
    /// Throws `failure`: nothing is unknown then. It keeps to the limit by itself.
    virtual asio::awaitable<introduced> make(const server_address&, time_point give_up_at) = 0;
    virtual std::string address_of(const server_address&) const = 0; ///< for people
    virtual void close() noexcept = 0; ///< what is being made fails soon
};

} // namespace holdfast::mysql
