// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/backoff.hpp"

#include <holdfast/address.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace holdfast::zookeeper {

inline constexpr std::uint16_t usual_port = 2181;

/// List of the servers: which server to connect to next, and how long to try. The servers are tried
/// one after the other. Each client shuffles them once, so that the clients of an ensemble are
/// spread over it. No I/O, no clock.
class ensemble {
public:
    ensemble(std::vector<server_address>, const std::function<std::uint64_t()>& random,
             duration backoff_least, duration backoff_most);

    std::size_t size() const { return servers_.size(); }
    const std::vector<server_address>& all() const { return servers_; }
    std::size_t present() const { return at_; } ///< index of the current server

    /// Returns the timeout for an attempt to connect. It is short at first, because a server may
    /// accept the connection and then say nothing. Such a server must not use up the time for the
    /// others, or the session's timeout. It doubles with each round, in case the network is slow.
    duration patience(duration longest, std::optional<duration> session_timeout) const;

    /// Gives up the current server and makes the next server current. Returns how long to wait
    /// before connecting: zero until all servers were tried.
    duration leave(std::uint64_t random);
    /// Returns whether all servers failed, one after the other.
    bool all_failed() const { return failed_ >= servers_.size(); }

    /// Notes that the current server worked well for a while.
    void served();

private:
    std::vector<server_address> servers_;
    net::backoff backoff_;
    std::size_t at_ = 0;
    std::size_t failed_ = 0; // number of servers that failed in a row
};

} // namespace holdfast::zookeeper
