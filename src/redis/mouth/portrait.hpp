// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/introduction.hpp"
#include "redis/server_in_use.hpp"

#include <holdfast/store.hpp>

#include <optional>
#include <string>

namespace holdfast::redis {

/// Identity of the server that a connection leads to, updated after each handshake.
class portrait {
public:
    /// Result of a handshake: the first server, the same server as before, or another or unknown
    /// server.
    enum class meeting { first, same, other_or_unknown };
    meeting meet(const introduction&, time_point now);

    /// Returns the server that the connection leads to.
    server_in_use server() const { return {run_id_, may_be_another_}; }

    /// Records that the connection is lost. The server may have restarted when the next connection
    /// is made.
    void lost(time_point now);

    server_identity identity() const { return {run_id_, forgets_before_}; }

private:
    bool met_ = false;
    bool may_be_another_ = false; // than the server before
    std::string run_id_;
    std::string replication_id_;
    std::optional<time_point> forgets_before_;
    // Value of `forgets_before_` before the loss; it is used again if the server is the same
    // process.
    std::optional<time_point> before_loss_;
};

} // namespace holdfast::redis
