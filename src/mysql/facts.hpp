// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mysql/database.hpp"
#include "net/failure.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
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

/// Says whether the server is a replica, by what it answered to each of `replica_questions`: MySQL
/// from 8.0 on has no status variable for that, unlike MariaDB.
void judge_role(server_facts&, std::span<const result> said);

inline constexpr std::array<const char*, 3> replica_questions{
    "SELECT @@performance_schema,(SELECT COUNT(*) FROM "
    "performance_schema.replication_connection_status WHERE SERVICE_STATE<>'OFF' AND "
    "CHANNEL_NAME NOT LIKE 'group\\_replication%')+(SELECT COUNT(*) FROM "
    "performance_schema.replication_applier_status WHERE SERVICE_STATE<>'OFF' AND "
    "CHANNEL_NAME NOT LIKE 'group\\_replication%')",
    "SHOW REPLICA STATUS", "SHOW SLAVE STATUS"};

/// Why no lock may be asked for there: it takes no writes, or its grants could be late or lost.
std::optional<net::failure> objection_to(const portrait&);

/// Why the session is not as it was set up, from its SHOW SESSION VARIABLES: a proxy, say, has
/// swallowed that.
std::optional<net::failure> objection_to_session(const variables& session);

} // namespace holdfast::mysql
