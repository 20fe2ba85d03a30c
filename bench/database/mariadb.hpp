// SPDX-License-Identifier: Apache-2.0
// MariaDB server for the benchmark, its statistics, and the contenders that use it: ShedLock's
// statements, user locks (GET_LOCK), and holdfast.
#pragma once

#include "bench/contenders/contender.hpp"
#include "bench/server/server.hpp"
#include "bench/server/server_groups.hpp"
#include "support/mariadb_server.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <thread>

struct st_mysql;

namespace holdfast::bench {

/// Session over TCP that uses libmariadb's blocking calls.
class session {
public:
    /// Connects as the user of the benchmark's schema.
    explicit session(const support::mariadb_server&);

    /// Runs the statement, and returns the number of matched rows. Throws the server's error.
    long long change(const std::string& statement);
    /// Returns the single value of a SELECT.
    std::string value(const std::string& statement);

private:
    struct closes {
        void operator()(st_mysql*) const noexcept;
    };
    void send(const std::string& statement);

    std::unique_ptr<st_mysql, closes> handle_;
};

/// Lock with the SQL statements of ShedLock's JDBC provider (`usingDbTime()`, MySQL). Each
/// statement is its own transaction. ShedLock has no renewal, notifications or tokens. The object
/// has its own session.
class shed_lock {
public:
    /// Creates the row of the lock, so that the first lock() takes no longer than the next. `who`
    /// is the text for `locked_by`.
    shed_lock(const support::mariadb_server&, const std::string& name, const std::string& who);

    bool try_lock();
    void lock();   ///< the lock must be free
    void unlock(); ///< throws if the lock was no longer held

private:
    session session_;
    const std::string attempt_, release_;
};

/// Polls until the lock is taken. ShedLock has no call that waits, so its users write this loop.
inline void lock_patiently(shed_lock& wanted) {
    while (!wanted.try_lock())
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
}

/// Statistics of a MariaDB server: the number of UPDATEs. Each attempt, release and renewal is an
/// UPDATE, in holdfast and in ShedLock.
class database_books final : public ledger {
public:
    explicit database_books(support::mariadb_server& of)
        : server_{of} {}

    void clear() override;
    std::string trouble_with(const claim&) const override;
    /// Returns the number of statements of all clients, including the statements of this class.
    long long commands_sent() const override;
    double cpu_seconds() const override;

private:
    long long updates() const;
    long long questions() const;

    support::mariadb_server& server_;
    long long updates_before_ = 0;
    long long questions_before_ = 0;
};

/// MariaDB server with the tables of holdfast and ShedLock. Each commit waits for the disk, as in
/// MariaDB's default settings. The constructor throws `support::server_unavailable` if MariaDB is
/// not installed.
class database final : public lone_server {
public:
    database();

    support::mariadb_server& server() { return server_; }
    double cpu_seconds() const override;
    std::string version() override { return server_.value("SELECT VERSION()"); }

private:
    support::mariadb_server server_{support::mariadb(), {.flush_at_commit = 1}};
};

site one_database(server_groups&); ///< throws `not_here`

/// Returns the site's MariaDB server, for connections without holdfast. The site must have such a
/// server.
support::mariadb_server& database_of(const site&);

// Contenders that exist only on MariaDB.

// Contenders in which each thread has its own session and lock: with ShedLock's statements, and
// with user locks (GET_LOCK), which have no lease and no token.
made shed_lock_threads(const arena&);
made user_lock_threads(const arena&);

// holdfast without wake-ups by user locks (GET_LOCK).
made holdfast_threads_without_bell(const arena&);

// Measures the time from a release until a waiter that polls every 20 ms has the lock.
made shed_lock_wake_up(const arena&);

// Contenders with waiters for one lock that is held for the whole measurement: holdfast, where each
// waiter has its own client, and ShedLock's statements, where each waiter polls every 20 ms.
made holdfast_waiters(const arena&);
made shed_lock_waiters(const arena&);

} // namespace holdfast::bench
