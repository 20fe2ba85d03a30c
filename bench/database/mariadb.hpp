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

/// Statements of ShedLock's JDBC provider (`usingDbTime()`, MySQL). Each statement is a transaction
/// of its own, and the object has a session of its own. ShedLock has no renewal, notifications or
/// tokens.
class shed_lock {
public:
    /// Creates the row of the lock, so that the first lock() need not create it. `who` is the text
    /// for `locked_by`.
    shed_lock(const support::mariadb_server&, const std::string& name, const std::string& who);

    bool try_lock();
    void lock();   ///< the lock must be free
    void unlock(); ///< throws if the lock was not held any more

private:
    session session_;
    const std::string attempt_, release_;
};

/// Polls until the lock is taken. ShedLock has no call that waits, so its users write this loop.
inline void lock_patiently(shed_lock& wanted) {
    while (!wanted.try_lock())
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
}

/// Statistics of a MariaDB server: the numbers of UPDATEs. In holdfast and in ShedLock, each
/// attempt, each release and each renewal is an UPDATE.
class database_books final : public ledger {
public:
    explicit database_books(support::mariadb_server& of)
        : server_{of} {}

    void clear() override;
    std::string trouble_with(const claim&) const override;
    /// Number of statements of all clients. The statements of this class itself are included.
    long long commands_sent() const override;
    double cpu_seconds() const override;

private:
    long long updates() const;
    long long questions() const;

    support::mariadb_server& server_;
    long long updates_before_ = 0;
    long long questions_before_ = 0;
};

/// MariaDB server with the tables of holdfast and ShedLock. Each commit waits for the disk, which
/// is MariaDB's default. The constructor throws `support::server_unavailable`.
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

/// Returns the MariaDB server behind the site, for connections without holdfast. The site must be a
/// MariaDB site.
support::mariadb_server& database_of(const site&);

// Contenders that exist only on MariaDB.

// Contenders in which each thread has a session and a lock of its own. One function uses ShedLock's
// statements. The other uses user locks (GET_LOCK), which have no lease and no token.
made shed_lock_threads(const arena&);
made user_lock_threads(const arena&);

// The contender holdfast, without wake-up notifications by user locks (GET_LOCK).
made holdfast_threads_without_bell(const arena&);

// Measures the time from a release until a waiter that polls every 20 ms has the lock.
made shed_lock_wake_up(const arena&);

// Contenders with waiters for one lock that is held for the whole measurement. Each holdfast waiter
// has its own client. The waiters with ShedLock's statements poll every 20 ms.
made holdfast_waiters(const arena&);
made shed_lock_waiters(const arena&);

} // namespace holdfast::bench
