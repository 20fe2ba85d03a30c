// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/loop_thread.hpp"
#include "support/server_process.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::support {

/// Network between the servers of a test, which the test can cut without root rights. Each server
/// announces ports of this object instead of its own ports, so other servers connect through this
/// object. It learns from the first bytes of a connection which server connects.
///
/// Servers are named by their own ports. When a call returns, its effect is complete. Thread
/// safety: any thread may call any member.
class partition {
public:
    /// What a cut does to connections of clients.
    enum class clients {
        cut_off, ///< clients are on the side of the other servers
        pass,    ///< clients reach both sides
    };

    partition();
    partition(const partition&) = delete;
    ~partition();

    /// Returns the port that server `whom` must announce instead of `port`, its own port or its
    /// port of the cluster bus.
    std::uint16_t way_to(std::uint16_t whom, std::uint16_t port);

    /// Returns a port for connections from server `who` to server `whom`. Use it if each server is
    /// configured with the addresses of the others.
    std::uint16_t way(std::uint16_t who, std::uint16_t whom, std::uint16_t port);

    /// Replaces `from` by `to` in the first bytes of each connection to the port `way`, for servers
    /// that tell others their own address. Both texts must have the same length.
    void translate(std::uint16_t way, const std::string& from, const std::string& to);

    /// Tells the object that the first bytes of a connection from server `who` contain the text
    /// `sign`: for a cluster node its name, for others the result of a function below. Call it
    /// before `who` connects.
    void know(std::uint16_t who, const std::string& sign);

    /// Cuts these servers off from all others. The servers on one side still reach each other.
    /// Between the sides, no bytes pass, but no connection is closed, and new connections are
    /// accepted.
    void cut(const std::vector<std::uint16_t>& side, clients = clients::cut_off);

    /// Ends the cut. Closes the connections that have lost bytes.
    void heal();

private:
    class state;
    template <typename Work>
    void ask(Work) const;
    std::uint16_t open(std::optional<std::uint16_t> who, std::uint16_t whom, std::uint16_t port);

    mutable loop_thread loop_;
    std::vector<reserved_port> ports_;
    std::shared_ptr<state> state_;
};

/// Returns the `sign` (see `know`) of a replica that announces this port.
std::string sign_of_replica(std::uint16_t port);
/// Returns the `sign` of a Sentinel with this id, which has 40 letters.
std::string sign_of_sentinel(const std::string& its_id);

} // namespace holdfast::support
