// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/database.hpp"
#include "net/failure.hpp"

#include <map>
#include <optional>
#include <string>

namespace holdfast::mysql {

/// What SHOW VARIABLES and SHOW STATUS answer.
using variables = std::map<std::string, std::string, std::less<>>;
variables variables_in(const result&);

/// What a connection's set-up asks, and a keep-alive again.
struct portrait {
    server_facts facts{};
    /// The same for the same server, whichever way it is reached; as far as it can be told.
    std::string server{};
    std::chrono::seconds uptime{};
    bool is_ready = true; ///< Galera: it is a member of a cluster that can write
};

portrait portrait_of(const variables& global, const variables& status, bool sysdate_is_now);

/// Why no lock may be asked for there: it takes no writes, or its grants could be late or lost.
std::optional<net::failure> objection_to(const portrait&);

/// Why the session is not as it was set up, from its SHOW SESSION VARIABLES: a proxy, say, has
/// swallowed that.
std::optional<net::failure> objection_to_session(const variables& session);

} // namespace holdfast::mysql
