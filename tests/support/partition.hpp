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

/// The ways between servers of a test, which it can cut. Servers announce the ports that are here
/// instead of their own, so that others come to them through this object. It learns who comes from
/// the first bytes of each connection. No rights are needed.
///
/// A server is named by its own port. What a test does has happened when the call returns.
/// Thread safety: every member.
class partition {
public:
    /// Of connections whose maker is none of the servers.
    enum class clients {
        cut_off, ///< they are on the other side
        pass,    ///< they reach both sides
    };

    partition();
    partition(const partition&) = delete;
    ~partition();

    /// The port to announce for `port` (its own, or that of the cluster bus) of server `whom`.
    std::uint16_t way_to(std::uint16_t whom, std::uint16_t port);

    /// The same for connections of server `who` alone, where each server can be told another port.
    std::uint16_t way(std::uint16_t who, std::uint16_t whom, std::uint16_t port);

    /// Of what comes in at that port, where `from` is among the first bytes of a connection, `to`
    /// is passed on instead: as for a server that tells others where to find it. Both have the same
    /// length.
    void translate(std::uint16_t way, const std::string& from, const std::string& to);

    /// Who says this when it connects is `who`; to be told before it does. A node of a cluster is
    /// known by its name, others by the functions below.
    void know(std::uint16_t who, const std::string& sign);

    /// These still reach each other. Between them and all others nothing passes any more, no
    /// connection is closed, and new ones carry nothing.
    void cut(const std::vector<std::uint16_t>& side, clients = clients::cut_off);

    /// Closes the connections that have lost bytes.
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

std::string sign_of_replica(std::uint16_t port);         ///< which announces that port
std::string sign_of_sentinel(const std::string& its_id); ///< of 40 letters

} // namespace holdfast::support
