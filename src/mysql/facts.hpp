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

/// The rows of SHOW VARIABLES or SHOW STATUS: name and value.
using variables = std::map<std::string, std::string, std::less<>>;
variables variables_in(const result&);

/// What is read from a server when a connection is set up, and again at each keep-alive.
struct portrait {
    server_facts facts{};
    /// Identifier of the server. It is the same for each address of the server, as far as can be
    /// told.
    std::string server{};
    std::chrono::seconds uptime{};
    bool is_ready = true; ///< Galera: the node belongs to a cluster that accepts writes
};

portrait portrait_of(const variables& global, const variables& status, bool sysdate_is_now);

/// Stores in `server_facts` whether the server is a replica. `said` has the answers to
/// `replica_questions`. MySQL has no status variable for that since 8.0, unlike MariaDB.
void judge_role(server_facts&, std::span<const result> said);

inline constexpr std::array<const char*, 3> replica_questions{
    "SELECT @@performance_schema,(SELECT COUNT(*) FROM "
    "performance_schema.replication_connection_status WHERE SERVICE_STATE<>'OFF' AND "
    "CHANNEL_NAME NOT LIKE 'group\\_replication%')+(SELECT COUNT(*) FROM "
    "performance_schema.replication_applier_status WHERE SERVICE_STATE<>'OFF' AND "
    "CHANNEL_NAME NOT LIKE 'group\\_replication%')",
    "SHOW REPLICA STATUS", "SHOW SLAVE STATUS"};

/// Returns why this server may not be used for locks: it accepts no writes, or a grant could be
/// late or lost. Empty: it may be used.
std::optional<net::failure> objection_to(const portrait&);

/// Returns which setting of the session differs from what was set, from SHOW SESSION VARIABLES. A
/// proxy may have dropped the SET statement. Empty: all settings are right.
std::optional<net::failure> objection_to_session(const variables& session);

} // namespace holdfast::mysql
