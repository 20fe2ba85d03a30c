// SPDX-License-Identifier: Apache-2.0
// Interface between src/store/mysql and the code that sends statements and returns their answers.
// The store uses only this interface, and neither libmariadb nor connections. Tests implement the
// interface with a model.
#pragma once

#include "runtime/remote_clock.hpp"

#include <holdfast/mysql/options.hpp>
#include <holdfast/store.hpp>
#include <holdfast/time.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::mysql {

/// Answer of the server to one statement. Each value is text from the server. A value is empty for
/// NULL.
struct result {
    /// Number of rows that matched the condition of the statement, whether or not they were changed
    /// (CLIENT_FOUND_ROWS).
    std::uint64_t matched = 0;
    std::uint64_t insert_id = 0; ///< value of LAST_INSERT_ID() after the statement
    std::vector<std::vector<std::optional<std::string>>> rows{};
    /// The server's error number; 0 means no error. A result contains only errors that
    /// `call_options` allows; other errors are thrown.
    unsigned error = 0;
    std::string words{}; ///< text of the server's error
};

/// Facts that a server reported about itself when a connection was made.
struct server_facts {
    bool is_mariadb = false;
    std::string version{};  ///< version, in the server's own form
    bool read_only = false; ///< `read_only`, `super_read_only` or `innodb_read_only` is on
    /// Whether several servers of the cluster accept writes (Galera, or group replication with
    /// several primaries). Each server of such a cluster has its own user locks (GET_LOCK).
    bool has_several_writers = false;
    bool is_replica = false;
    /// True if the database user lacks the permission to ask whether the server is a replica.
    bool role_is_unknown = false;
    bool sysdate_is_now = false;
    std::string binlog_format{};
    std::string flush_at_commit{}; ///< value of innodb_flush_log_at_trx_commit
    /// Global value of sql_mode. A session may have another value.
    std::string strict_mode{};
    std::uint64_t connections_of_user_max = 0; ///< value of max_user_connections; 0: no limit
    duration idle_limit{};                     ///< value of wait_timeout
    bool over_tls = false;
    std::string address{};
};

/// Handle of a connection on which a request left a user lock (GET_LOCK) or an open transaction. If
/// a request names a handle in `call_options::on`, it runs on the connection of this handle. A
/// connection for a waiter, or with an open transaction, runs no other requests.
///
/// When the handle is destroyed, the pool releases the user locks and reuses the connection. If a
/// transaction is open or a statement is running, the pool cuts the connection instead.
class pinned_connection {
public:
    virtual ~pinned_connection() = default;
    /// Returns whether the connection is cut. After a cut, the server releases the user locks of
    /// the connection.
    virtual bool is_cut() const noexcept = 0;
    /// Cuts the connection at once. Another coroutine may call `cut` while a statement is running
    /// on the connection. The statement then fails with outcome_unknown.
    virtual void cut() noexcept = 0;
};

struct call_options {
    /// Deadline for the answer. At the deadline, the call fails: with unreachable if nothing was
    /// sent, and otherwise with outcome_unknown. The call may fail earlier, because
    /// `command_timeout()` limits it, too.
    time_point answer_by = time_point::max();
    /// Connection on which to send the request. If it is cut, the call fails with unreachable, and
    /// nothing is sent. Null: the pool chooses a connection.
    std::shared_ptr<pinned_connection> on{};
    /// True if an earlier request got no answer, so that this request should use another
    /// connection. The pool may ignore this option: it cuts a connection whose answer is overdue,
    /// so the next request uses another connection anyway.
    bool elsewhere = false;
    /// Whether the statements may leave a transaction open. If they may, the caller must end the
    /// transaction on the connection `answers::by`.
    bool leaves_open = false;
    /// Index of the first statement whose change matters to other requests. A failed request counts
    /// as not executed if this statement and the later ones have matched no row, even if the COMMIT
    /// succeeded. If the index is empty, every change matters, even a change by an earlier request
    /// in the same open transaction.
    std::optional<std::size_t> effect_at{};
    /// If true, only the first statement decides the outcome. If a later statement fails, the call
    /// does not throw and does not retry the statement: it stores the error in the statement's
    /// `result`.
    bool rest_is_hint = false;
    /// Statement to send in addition to ROLLBACK if the request failed. The statement undoes
    /// effects that ROLLBACK does not undo. The string must outlive the call. Null if no such
    /// statement is needed.
    const std::string* undo = nullptr;
    /// Whether the request is accepted even if `requests_max` requests are pending. Only releases
    /// and renewals set this field.
    bool reserved = false;
    /// Index of a statement that may wait for a row which another transaction has locked. If the
    /// wait ends with error 1205, the call stores the error in the statement's `result`, and rolls
    /// back an open transaction. It does not throw, and does not retry the request. The statements
    /// after this index must then do no harm.
    std::optional<std::size_t> may_meet_lock{};
};

/// Answers to the statements of one request, in the order of the statements.
struct answers {
    std::vector<result> of{};
    time_point sent_at{};
    time_point received_at{};
    /// Estimate of the server's clock. The caller updates it with the times in the answers.
    std::shared_ptr<runtime::remote_clock> clock{};
    /// Connection over which the answers came. To end the transaction, or to release the user lock,
    /// the caller must use this connection.
    std::shared_ptr<pinned_connection> by{};
    std::string server{}; ///< address of the server, for messages
};

/// Statements of one request. Their text may depend on the clock of the server that will run them.
class statements {
public:
    virtual ~statements() = default;
    /// Returns the statements to send. The pool calls this function after it has chosen a
    /// connection. `clock` is the estimate of the clock of that connection's server.
    virtual std::vector<std::string> compose(const runtime::remote_clock& clock,
                                             const server_facts&) = 0;
};

/// All calls throw `net::failure`:
///
/// - `errc::unreachable`: nothing was sent, or the server says that nothing was carried out.
/// - `errc::outcome_unknown`: the statements may have been carried out; the connection is cut.
/// - a `store_errc` with the server's text: the server refused.
/// - `errc::overloaded` or `errc::closed`.
///
/// Deadlocks (1213) and lock wait timeouts (1205) are retried up to three times within the time
/// limit. Each retry follows a ROLLBACK and a random pause. There is no retry in a transaction that
/// was open before the call. If an answer says that a transaction is open, and the request does not
/// allow this, the connection is cut and the call fails with outcome_unknown.
///
/// After a failed statement the server still runs the later statements of the request. Write the
/// later statements so that they change nothing then. If some statements succeed and a later
/// statement fails, the call fails with `outcome_unknown`. The exception is a single transaction
/// that is still open after each later successful statement, or in which no statement matched a row
/// (see `effect_at`). In this case nothing was carried out, and the pool sends ROLLBACK.
///
/// Thread safety: call everything on the client's executor.
class database {
public:
    virtual ~database() = default;

    /// Sends all statements in one write on one connection, so that no other request of this pool
    /// gets between the statements. `statements` must live until the call completes. Its `compose`
    /// is called again for each retry.
    virtual asio::awaitable<answers> run(statements&, call_options = {}) = 0;

    /// Returns a connection for the sole use of a waiter in GET_LOCK. Returns null if
    /// `wait_connections_max` connections are in use, or if user locks do not work on this server.
    /// The caller must then poll.
    virtual asio::awaitable<std::shared_ptr<pinned_connection>>
    connection_to_wait_on(time_point limit) = 0;

    /// Returns facts about the server of the newest connection. The result is empty before the
    /// first connection.
    virtual std::optional<server_facts> facts() const = 0;

    /// Returns whether user locks (GET_LOCK) can notify waiters on this server. The result depends
    /// on an option and on the kind of server. After a call of `no_bells_here()`, the result is
    /// false.
    virtual bool has_bells() const = 0;
    /// Records that the server does not support user locks. Waiters then poll.
    virtual void no_bells_here() noexcept = 0;

    virtual duration command_timeout() const noexcept = 0;
    virtual std::string address() const = 0;
    virtual void close() noexcept = 0;
};

/// Checks the options and returns them in the form that the store uses. Throws
/// `errc::invalid_argument` with the field's name if an option is wrong. Reads the TLS files, but
/// contacts no server.
options checked(options);

/// Creates a `database` object, which connects at its first request. The options must be a result
/// of `checked()`.
std::unique_ptr<database> make_database(options, store_context);

} // namespace holdfast::mysql
