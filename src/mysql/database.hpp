// SPDX-License-Identifier: Apache-2.0
// The private interface below src/store/mysql: it sends statements and returns their answers. The
// store does not know libmariadb, nor how many connections there are and in which state. Tests put
// a model here.
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

/// The answer to one statement. Values are the server's text; an empty optional is NULL.
struct result {
    std::uint64_t matched = 0;   ///< rows that matched (CLIENT_FOUND_ROWS)
    std::uint64_t insert_id = 0; ///< LAST_INSERT_ID() as the statement set it
    std::vector<std::vector<std::optional<std::string>>> rows{};
    /// The server's error number; other than 0 only in answers that `call_wishes` allows to fail.
    unsigned error = 0;
    std::string words{}; ///< the text of the error
};

/// What a server reported about itself when a connection was made.
struct server_facts {
    bool is_mariadb = false;
    std::string version{};  ///< as the server reports it
    bool read_only = false; ///< `read_only`, `super_read_only` or `innodb_read_only` is on
    /// Galera, or group replication with several primaries. User locks (GET_LOCK) are then local to
    /// each server.
    bool has_several_writers = false;
    bool is_replica = false;
    bool role_is_unknown = false; ///< the server does not tell this user whether it is a replica
    bool sysdate_is_now = false;
    std::string binlog_format{};
    std::string flush_at_commit{};             ///< innodb_flush_log_at_trx_commit
    std::string strict_mode{};                 ///< sql_mode of the server, not of the session
    std::uint64_t connections_of_user_max = 0; ///< max_user_connections; 0: no limit
    duration idle_limit{};                     ///< wait_timeout
    bool over_tls = false;
    std::string address{};
};

/// Handle of a connection on which a request left something: a user lock or an open transaction. A
/// connection to wait on, or with an open transaction, serves only requests that name the handle in
/// `call_wishes::on`. When the handle is destroyed, such a connection is given back, after its user
/// locks were released. It is cut instead if a transaction is open or a statement is running.
class carrier {
public:
    virtual ~carrier() = default;
    /// Returns whether the connection is cut. The server releases its user locks then.
    virtual bool is_cut() const noexcept = 0;
    /// Cuts the connection at once; another coroutine may call this. A statement that is running
    /// there fails with outcome_unknown.
    virtual void cut() noexcept = 0;
};

struct call_wishes {
    /// Deadline for the answer. Afterwards the call fails with outcome_unknown, or with unreachable
    /// if nothing was sent. `command_timeout()` limits the call too.
    time_point answer_by = time_point::max();
    /// Connection to use. If it is cut, the call fails with unreachable, and nothing was sent.
    std::shared_ptr<carrier> on{};
    /// Asks for another connection, because an earlier request was not answered. The pool does not
    /// read this flag, because it cuts each connection whose answer is late.
    bool elsewhere = false;
    /// Allows a transaction to be open after the answers. The caller ends it on `answers::by`.
    bool leaves_open = false;
    /// Only the first statement decides the outcome. An error of a later statement is stored in its
    /// `result`; it is neither thrown nor retried.
    bool rest_is_hint = false;
    /// Statement to send with ROLLBACK if the request failed, for effects that ROLLBACK does not
    /// undo. The string must outlive the call. Null: none.
    const std::string* undo = nullptr;
    /// Allows the request to exceed `requests_max`. Only releases and renewals set it.
    bool reserved = false;
    /// Index of a statement that may wait for a row that another transaction has locked. If that
    /// wait ends with error 1205, the error is stored in its `result`. Nothing is thrown or retried
    /// then, and an open transaction is rolled back. The later statements must then have no effect
    /// that matters.
    std::optional<std::size_t> may_meet_lock{};
};

/// The answers to statements that were sent in one write, in the same order.
struct answers {
    std::vector<result> of{};
    time_point sent_at{};
    time_point received_at{};
    /// Estimate of the server's clock. The caller updates it from the answers.
    std::shared_ptr<runtime::remote_clock> clock{};
    std::shared_ptr<carrier> by{}; ///< handle to close on the same connection what was opened there
    std::string server{};          ///< address, for people
};

/// Statements whose text may depend on the clock of the server behind the chosen connection.
class statements {
public:
    virtual ~statements() = default;
    /// Returns the statements to send, once a connection was chosen. `clock` is the estimate of
    /// that server's clock.
    virtual std::vector<std::string> compose(const runtime::remote_clock& clock,
                                             const server_facts&) = 0;
};

/// All calls throw `net::failure`:
///
/// - `errc::unreachable`: nothing was sent, or the server says that nothing was carried out.
/// - `errc::outcome_unknown`: it is not known whether it was carried out; the connection is cut.
/// - a `store_errc` with the server's text: the server refused.
/// - `errc::overloaded` or `errc::closed`.
///
/// Deadlocks and lock wait timeouts (1213, 1205) are retried up to three times within the time
/// limit, with jitter, after ROLLBACK. They are not retried in a transaction that was open before
/// the call. A connection is cut with outcome_unknown if its answer says that a transaction is open
/// where none may be open.
///
/// The server carries out the statements after a failed statement too, so write them to have no
/// effect then. If a statement fails after others succeeded, the outcome of the call is
/// `outcome_unknown`. There is one exception: all statements are in one transaction, and no later
/// statement succeeded or no statement matched a row. The transaction is then rolled back, and
/// nothing was carried out.
///
/// Thread safety: call everything on the client's executor.
class database {
public:
    virtual ~database() = default;

    /// Sends all statements in one write on one connection, so no other request of this pool gets
    /// between them. `statements` must live until the call completes. It may be called again after
    /// a failure that means "not carried out".
    virtual asio::awaitable<answers> run(statements&, call_wishes = {}) = 0;

    /// Returns a dedicated connection for a waiter in GET_LOCK. Returns null if
    /// `wait_connections_max` are in use or if this server has no usable user locks; the caller
    /// then polls.
    virtual asio::awaitable<std::shared_ptr<carrier>> connection_to_wait_on(time_point limit) = 0;

    /// Facts about the server of the newest connection; empty before the first connection.
    virtual std::optional<server_facts> facts() const = 0;

    /// Returns whether user locks can wake waiters here. This depends on an option and on the kind
    /// of server. It is false after `no_bells_here()`.
    virtual bool has_bells() const = 0;
    virtual void no_bells_here() noexcept = 0; ///< the server does not support user locks

    virtual duration command_timeout() const noexcept = 0;
    virtual std::string address() const = 0;
    virtual void close() noexcept = 0;
};

} // namespace holdfast::mysql
