// SPDX-License-Identifier: Apache-2.0
// Functions that interpret a server's answers: what an error means, whether a request was executed,
// and which facts the answers contain about the server. These functions do no I/O.
#pragma once

#include "mysql/database.hpp"
#include "net/failure.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::mysql {

/// Meaning of an error of the server or of libmariadb, for the code that sent the statement.
struct meaning {
    /// Error code that the caller gets. After `unreachable` or a refusal, the server has changed
    /// nothing.
    error_code code;
    bool again = false; ///< true: a conflict with another transaction; try again
    bool leave = false; ///< true: this server accepts no writes; try another server
    bool cut = false;   ///< true: the connection cannot be used any more
    std::string hint{}; ///< advice for the user, shown after the server's text; empty: none
};

/// Classifies an error by its number. Reads the text only if the number has several meanings.
meaning classify(unsigned error, std::string_view words);

/// Classifies an error that occurred while connecting. No statement was sent yet, so the outcome is
/// never unknown.
meaning classify_connecting(unsigned error, std::string_view words);

/// Makes a failure. The text of the failure contains the error number, the server's text and the
/// advice.
net::failure failure_of(const meaning&, unsigned error, std::string_view words);

/// The server's answer to one of several statements.
struct statement_answer {
    result what{};
    /// Whether a transaction is open on the connection after this answer. After an error, the value
    /// has no meaning.
    bool open = false;
};

/// Outcome of all statements of one request.
struct classification {
    enum class outcome {
        carried_out,
        not_carried_out,
        /// Some statements may have been executed. Or a transaction is open, although the request
        /// does not allow this.
        unknown,
        left_open, ///< a transaction is open, and the request allows this
        met_lock,  ///< the wait for a row lock timed out, and `may_meet_lock` allows this
    };
    outcome what = outcome::carried_out;
    /// Index of the first statement that failed. If no statement failed, this is the number of
    /// statements.
    std::size_t failed = 0;
};

/// Decides from the answers whether the server has executed the request. `was_open` says whether a
/// transaction was open before the request.
classification classify(std::span<const statement_answer>, bool was_open, const call_options&);

/// Rows of SHOW VARIABLES or SHOW STATUS: name and value.
using variables = std::map<std::string, std::string, std::less<>>;
variables variables_in(const result&);

/// Facts about a server (`server_info`). They are read when a connection is set up, and again at
/// each keep-alive.
struct server_info {
    server_facts facts{};
    /// Text that identifies the server. If the server's variables contain an identity, the text is
    /// the same for all addresses of the server.
    std::string server{};
    std::chrono::seconds uptime{};
    /// False if this server is a Galera node that is not part of a cluster that accepts writes.
    bool is_ready = true;
};

server_info server_info_of(const variables& global, const variables& status, bool sysdate_is_now);

/// Stores in `server_facts` whether the server is a replica. `said` has the answers to
/// `replica_questions`. MySQL from 8.0 on must be asked these questions, because it has no status
/// variable for its role; MariaDB has one.
void judge_role(server_facts&, std::span<const result> said);

inline constexpr std::array<const char*, 3> replica_questions{
    "SELECT @@performance_schema,(SELECT COUNT(*) FROM "
    "performance_schema.replication_connection_status WHERE SERVICE_STATE<>'OFF' AND "
    "CHANNEL_NAME NOT LIKE 'group\\_replication%')+(SELECT COUNT(*) FROM "
    "performance_schema.replication_applier_status WHERE SERVICE_STATE<>'OFF' AND "
    "CHANNEL_NAME NOT LIKE 'group\\_replication%')",
    "SHOW REPLICA STATUS", "SHOW SLAVE STATUS"};

/// Returns why this server must not be used for locks: it accepts no writes, or a granted lock
/// could be late or lost. The result is empty if the server can be used.
std::optional<net::failure> objection_to(const server_info&);

/// Compares the session's variables with the values that were set. Returns a failure that names the
/// wrong variable; for example, a proxy may have dropped the SET statement. The result is empty if
/// all values are right. `session` comes from SHOW SESSION VARIABLES.
std::optional<net::failure> objection_to_session(const variables& session);

} // namespace holdfast::mysql
