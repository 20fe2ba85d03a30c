// SPDX-License-Identifier: Apache-2.0
// List of an ensemble's servers (`ensemble`), and the facts that a server reports about itself. The
// code here does no I/O and reads no clock.
#pragma once

#include "net/deadlines.hpp"
#include "zookeeper/session.hpp"

#include <holdfast/address.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::zookeeper {

inline constexpr std::uint16_t usual_port = 2181;

/// List of the servers. It decides which server to connect to next, and how long to try. The
/// servers are tried in turn. Each client shuffles the list once, so that the clients are spread
/// over the ensemble. The list does no I/O and reads no clock.
class ensemble {
public:
    ensemble(std::vector<server_address>, const std::function<std::uint64_t()>& random,
             duration backoff_least, duration backoff_most);

    std::size_t size() const { return servers_.size(); }
    const std::vector<server_address>& all() const { return servers_; }
    std::size_t present() const { return at_; } ///< index of the current server

    /// Returns the timeout for an attempt to connect. The timeout is short at first: a server may
    /// accept the connection and then send nothing, and enough time must be left to try the other
    /// servers before the session expires. The timeout doubles with each round over all servers,
    /// because the network may be slow.
    duration attempt_timeout(duration longest, std::optional<duration> session_timeout) const;

    /// Leaves the current server, and makes the next server current. Returns how long to wait
    /// before connecting. The wait is zero until all servers were tried.
    duration leave(std::uint64_t random);
    /// Returns whether all servers have failed since a server last worked.
    bool all_failed() const { return failed_ >= servers_.size(); }

    /// Records that the current server has worked for a while.
    void served();

private:
    std::vector<server_address> servers_;
    net::backoff backoff_;
    std::size_t at_ = 0;
    std::size_t failed_ = 0; // number of servers that failed since a server last worked
};

// Facts that a server reports about itself in answer to the four-letter word (command) "srvr".

/// The four-letter word that asks a server for facts about itself. The client sends it without a
/// frame, and the server closes the connection after its answer.
inline constexpr std::string_view word_for_facts = "srvr";

/// Adds the facts in the answer to `to`. An answer of another form adds nothing, for example the
/// answer of a proxy that blocks "srvr".
void read_facts(std::string_view answer, server_seen& to);

} // namespace holdfast::zookeeper
