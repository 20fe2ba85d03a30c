// SPDX-License-Identifier: Apache-2.0
// The private seam below src/store/mysql: statements, and their answers. Nothing above knows
// libmariadb, connections' states or how many there are; a model can stand here in tests.
#pragma once

#include "runtime/remote_clock.hpp"

#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// The answer to one statement. Values are as the server wrote them; nothing: NULL.
struct result {
    std::uint64_t matched = 0;   ///< rows (CLIENT_FOUND_ROWS)
    std::uint64_t insert_id = 0; ///< LAST_INSERT_ID() as the statement set it
    std::vector<std::vector<std::optional<std::string>>> rows{};
    unsigned error = 0;  ///< the server's number; not 0 only with `call_wishes::rest_is_hint`
    std::string words{}; ///< its text
};

/// What the server said of itself when a connection was made.
struct server_facts {
    bool is_mariadb = false;
    std::string version{};  ///< as it writes it
    bool read_only = false; ///< `read_only`, `super_read_only`, `innodb_read_only`
    /// Galera, or group replication with several primaries: its user locks are each server's own.
    bool has_several_writers = false;
    bool is_replica = false;
    bool role_is_unknown = false; ///< it does not tell this user whether it is a replica
    bool sysdate_is_now = false;
    std::string binlog_format{};
    std::string flush_at_commit{};             ///< innodb_flush_log_at_trx_commit
    std::string strict_mode{};                 ///< sql_mode of the server, not of the session
    std::uint64_t connections_of_user_max = 0; ///< max_user_connections; 0: no limit
    duration idle_limit{};                     ///< wait_timeout
    bool over_tls = false;
    std::string address{};
};

/// One connection that has something open: a user lock (the bell), or a transaction. It is not used
/// for anything else unless it is named. Destroying it gives the connection back, without its user
/// locks if it was one to wait on; with a transaction, or while something is under way, it is cut.
class carrier {
public:
    virtual ~carrier() = default;
    /// Its user locks are gone, or go.
    virtual bool is_cut() const noexcept = 0;
    /// At once, from another coroutine too; what is under way there ends with outcome_unknown.
    virtual void cut() noexcept = 0;
};

struct call_wishes {
    /// An answer that comes later is of no use: outcome_unknown then (unreachable, if it was not
    /// sent). Never later than `command_timeout()` from the call, whatever stands here.
    time_point answer_by = time_point::max();
    /// On that connection. If it is cut: unreachable, nothing was sent.
    std::shared_ptr<carrier> on{};
    /// An earlier one was not answered: over another connection, if there is a choice.
    bool elsewhere = false;
    /// A transaction is open behind the answers, on `answers::by`, which its caller ends there.
    bool leaves_open = false;
    /// Only the first statement counts: an error of one behind it is told in its `result`, and
    /// neither thrown nor repeated.
    bool rest_is_hint = false;
    /// Goes with ROLLBACK where what was asked failed: for what no ROLLBACK takes back. It outlives
    /// the call; null: nothing.
    const std::string* undo = nullptr;
    /// Beyond `requests_max`: for releases and renewals alone.
    bool reserved = false;
    /// The statement of that number may meet a row that somebody else has locked. If its wait ends
    /// with 1205, that is an answer: it stands in its `result`, nothing is thrown or repeated, and
    /// what is open is rolled back. Those behind it do nothing of weight then.
    std::optional<std::size_t> may_meet_lock{};
};

/// The answers to statements that went out in one write, in order.
struct answers {
    std::vector<result> of{};
    time_point sent_at{};
    time_point received_at{};
    /// What is known of the server's clock; the caller teaches it what the answers say.
    std::shared_ptr<runtime::remote_clock> clock{};
    std::shared_ptr<carrier> by{}; ///< so that what was opened there can be closed there
    std::string server{};          ///< address, for people
};

/// Statements whose texts may depend on the clock of the server behind the connection.
class statements {
public:
    virtual ~statements() = default;
    /// Called when a connection has been chosen: what to send there. `clock`: what is known of its
    /// server's.
    virtual std::vector<std::string> compose(const runtime::remote_clock& clock,
                                             const server_facts&) = 0;
};

/// All calls throw `net::failure`: `errc::unreachable` if nothing was sent or the server says that
/// it was not carried out, `errc::outcome_unknown` if that is not known (the connection is cut
/// then), a `store_errc` with the server's words if it refused, `errc::overloaded`, `errc::closed`.
/// Deadlocks and lock waits (1205, 1213) are repeated three times within the time limit, with
/// jitter, after ROLLBACK; but not in a transaction that was open before. A connection whose answer
/// says that a transaction is open, where none may be, is cut: outcome_unknown.
///
/// The statements behind one that failed are carried out all the same: write them so that they do
/// nothing then. If one fails behind others that were carried out, the whole is `outcome_unknown`;
/// unless all are in one transaction, and none behind it succeeded, or none of all has matched a
/// row: then it is rolled back, and nothing was done.
///
/// Thread safety: everything on the client's executor.
class database {
public:
    virtual ~database() = default;

    /// In one write, on one connection: so no other client's statement of this pool comes between
    /// them. The object lives until this has completed; it may be asked again, after a failure
    /// that means "not carried out".
    virtual asio::awaitable<answers> run(statements&, call_wishes = {}) = 0;

    /// A connection of its own for who waits in GET_LOCK. Null: `wait_connections_max` are in use,
    /// or there are no user locks here; then poll.
    virtual asio::awaitable<std::shared_ptr<carrier>> connection_to_wait_on(time_point limit) = 0;

    /// Of the last connection that was made; nothing before the first.
    virtual std::optional<server_facts> facts() const = 0;

    /// User locks are of use here: an option, and what kind of server it is. False after 1235.
    virtual bool has_bells() const = 0;
    virtual void no_bells_here() noexcept = 0; ///< the server does not know them

    virtual duration command_timeout() const noexcept = 0;
    virtual std::string address() const = 0;
    virtual void close() noexcept = 0;
};

} // namespace holdfast::mysql
