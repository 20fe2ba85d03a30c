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

/// Rows of SHOW VARIABLES or SHOW STATUS: name and value.
using variables = std::map<std::string, std::string, std::less<>>;
variables variables_in(const result&);

/// Facts about a server (`portrait`). They are read when a connection is set up, and again at each
/// keep-alive.
struct portrait {
    server_facts facts{};
    /// Identifier of the server. It is the same for each address of the server, if the server's
    /// variables make that possible.
    std::string server{};
    std::chrono::seconds uptime{};
    bool is_ready = true; ///< Galera: the node belongs to a cluster that accepts writes
};

portrait portrait_of(const variables& global, const variables& status, bool sysdate_is_now);

/// Stores in `server_facts` whether the server is a replica. `said` has the answers to
/// `replica_questions`. The questions are needed for MySQL 8.0 and later, which has no status
/// variable for this. MariaDB has such a variable.
void judge_role(server_facts&, std::span<const result> said);

inline constexpr std::array<const char*, 3> replica_questions{
    "SELECT @@performance_schema,(SELECT COUNT(*) FROM "
    "performance_schema.replication_connection_status WHERE SERVICE_STATE<>'OFF' AND "
    "CHANNEL_NAME NOT LIKE 'group\\_replication%')+(SELECT COUNT(*) FROM "
    "performance_schema.replication_applier_status WHERE SERVICE_STATE<>'OFF' AND "
    "CHANNEL_NAME NOT LIKE 'group\\_replication%')",
    "SHOW REPLICA STATUS", "SHOW SLAVE STATUS"};

/// Returns why this server must not be used for locks: it accepts no writes, or a granted lock
/// could be late or lost. Empty: the server may be used.
std::optional<net::failure> objection_to(const portrait&);

/// Compares the session's variables with the values that were set. Returns a failure that names the
/// wrong setting; a proxy may have dropped the SET statement. Empty: all settings are right.
/// `session` comes from SHOW SESSION VARIABLES.
std::optional<net::failure> objection_to_session(const variables& session);

} // namespace holdfast::mysql
