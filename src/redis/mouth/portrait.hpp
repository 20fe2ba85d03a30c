// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "redis/link/introduction.hpp"
#include "redis/server_in_use.hpp"

#include <holdfast/store.hpp>

#include <optional>
#include <string>

namespace holdfast::redis {

/// Identity of the server that a connection leads to. Updated after each handshake.
class portrait {
public:
    /// Result of a handshake. `first`: no server was known before. `same`: the server is the same
    /// as before. `other_or_unknown`: it is another server, or may be.
    enum class meeting { first, same, other_or_unknown };
    meeting meet(const introduction&, time_point now);

    /// Returns the server that the connection leads to.
    server_in_use server() const { return {run_id_, may_be_another_}; }

    /// Records the loss of the connection. The server may restart before the next connection.
    void lost(time_point now);

    server_identity identity() const { return {run_id_, forgets_before_}; }

private:
    bool met_ = false;
    bool may_be_another_ = false; // than the server before
    std::string run_id_;
    std::string replication_id_;
    std::optional<time_point> forgets_before_;
    // Value of `forgets_before_` before the loss. It applies again if the next connection leads to
    // the same process.
    std::optional<time_point> before_loss_;
};

} // namespace holdfast::redis
