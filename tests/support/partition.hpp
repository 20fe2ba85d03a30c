// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/loop_thread.hpp"
#include "support/reserved_port.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::support {

/// Network between the servers of a test, which the test can cut. Servers announce ports of this
/// object instead of their own, so that other servers connect through it. It identifies the
/// connecting server by the first bytes of each connection. Needs no special rights.
///
/// A server is named by its own port. The effect of a call is complete when the call returns.
/// Thread safety: every member.
class partition {
public:
    /// What a cut does to connections that come from no server.
    enum class clients {
        cut_off, ///< they are on the other side
        pass,    ///< they reach both sides
    };

    partition();
    partition(const partition&) = delete;
    ~partition();

    /// Returns the port to announce for `port` (its own, or that of the cluster bus) of server
    /// `whom`.
    std::uint16_t way_to(std::uint16_t whom, std::uint16_t port);

    /// Returns a port for connections of server `who` only, if each server can be told another
    /// port.
    std::uint16_t way(std::uint16_t who, std::uint16_t whom, std::uint16_t port);

    /// Replaces `from` by `to` in the first bytes of each connection to that port, for a server
    /// that tells others its address. Both texts must have the same length.
    void translate(std::uint16_t way, const std::string& from, const std::string& to);

    /// Makes `sign` identify server `who` when it connects. Call before it connects. A node of a
    /// cluster is known by its name, other servers by the functions below.
    void know(std::uint16_t who, const std::string& sign);

    /// Cuts these servers off. They still reach each other. Between them and all others no bytes
    /// pass, no connection is closed, and new connections carry nothing.
    void cut(const std::vector<std::uint16_t>& side, clients = clients::cut_off);

    /// Ends the cut, and closes the connections that have lost bytes.
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

std::string sign_of_replica(std::uint16_t port);         ///< the replica announces that port
std::string sign_of_sentinel(const std::string& its_id); ///< an id of 40 letters

} // namespace holdfast::support
