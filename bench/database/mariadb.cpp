// SPDX-License-Identifier: Apache-2.0
#include "bench/database/mariadb.hpp"

#include "bench/contenders/other_programs.hpp"
#include "bench/server/cpu_time.hpp"
#include "mysql/libmariadb.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mysql/options.hpp>

#include <deque>
#include <future>
#include <limits>
#include <stdexcept>

#include <mysql.h>

namespace holdfast::bench {
namespace {

struct frees_result {
    void operator()(MYSQL_RES* result) const noexcept { mysql_free_result(result); }
};

[[noreturn]] void fail(MYSQL* handle) {
    throw std::runtime_error{std::to_string(mysql_errno(handle)) + ": " + mysql_error(handle)};
}

} // namespace

void session::closes::operator()(MYSQL* handle) const noexcept {
    mysql_close(handle);
}

session::session(const support::mariadb_server& where) {
    mysql::prepare_library();
    handle_.reset(mysql_init(nullptr));
    // With CLIENT_FOUND_ROWS, an UPDATE reports all rows that matched, as with Java's driver.
    // Without this flag, a row that gets the same time again would not count.
    if (mysql_real_connect(handle_.get(), "127.0.0.1", support::mariadb_server::user,
                           support::mariadb_server::password, support::mariadb_server::schema,
                           where.port(), nullptr, CLIENT_FOUND_ROWS) == nullptr)
        fail(handle_.get());
}

long long session::change(const std::string& statement) {
    send(statement);
    return static_cast<long long>(mysql_affected_rows(handle_.get()));
}

std::string session::value(const std::string& statement) {
    send(statement);
    const std::unique_ptr<MYSQL_RES, frees_result> result{mysql_store_result(handle_.get())};
    MYSQL_ROW const row = result ? mysql_fetch_row(result.get()) : nullptr;
    if (row == nullptr)
        fail(handle_.get());
    return row[0] ? row[0] : "";
}

void session::send(const std::string& statement) {
    if (mysql_real_query(handle_.get(), statement.data(), statement.size()) != 0)
        fail(handle_.get());
}

namespace {

/// Values of two settings of ShedLock. `lockAtMostFor` is as long as holdfast's lease.
/// `lockAtLeastFor` has its default value, zero.
const std::string end_of_lease = "TIMESTAMPADD(MICROSECOND, 30000000, UTC_TIMESTAMP(3))";
const std::string end_at_least = "TIMESTAMPADD(MICROSECOND, 0, locked_at)";

std::string quoted(const std::string& word) {
    return "'" + word + "'"; // the names come from the benchmark and contain no quote
}

std::string first_row(const std::string& name, const std::string& who) {
    return "INSERT IGNORE INTO shedlock(name, lock_until, locked_at, locked_by) VALUES(" +
           quoted(name) + ", UTC_TIMESTAMP(3), UTC_TIMESTAMP(3), " + quoted(who) + ")";
}

std::string attempt(const std::string& name, const std::string& who) {
    return "UPDATE shedlock SET lock_until = " + end_of_lease +
           ", locked_at = UTC_TIMESTAMP(3), locked_by = " + quoted(who) +
           " WHERE name = " + quoted(name) + " AND lock_until <= UTC_TIMESTAMP(3)";
}

std::string release(const std::string& name, const std::string& who) {
    return "UPDATE shedlock SET lock_until = IF (" + end_at_least + " > UTC_TIMESTAMP(3) , " +
           end_at_least + ", UTC_TIMESTAMP(3)) WHERE name = " + quoted(name) +
           " AND locked_by = " + quoted(who);
}

} // namespace

shed_lock::shed_lock(const support::mariadb_server& where, const std::string& name,
                     const std::string& who)
    : session_{where}
    , attempt_{attempt(name, who)}
    , release_{release(name, who)} {
    session_.change(first_row(name, who));
}

bool shed_lock::try_lock() {
    return session_.change(attempt_) == 1;
}

void shed_lock::lock() {
    if (!try_lock())
        throw std::runtime_error{"a free lock was not granted"};
}

void shed_lock::unlock() {
    if (session_.change(release_) != 1)
        throw std::runtime_error{"a release did not find its lock"};
}

namespace {

/// Counts the rows of held locks, of holdfast and of ShedLock.
constexpr const char* held_rows =
    "SELECT (SELECT COUNT(*) FROM holdfast_lock WHERE expires > UTC_TIMESTAMP(6)) + "
    "(SELECT COUNT(*) FROM shedlock WHERE lock_until > UTC_TIMESTAMP(3))";

} // namespace

void database_books::clear() {
    updates_before_ = updates();
    questions_before_ = questions();
}

std::string database_books::trouble_with(const claim& wanted) const {
    const long long counted = updates() - updates_before_;
    if (counted < wanted.least) // there may be more UPDATEs, for renewals and failed attempts
        return "the server ran " + std::to_string(counted) + " UPDATEs, and not " +
               std::to_string(wanted.least);
    if (const std::string left = server_.value(held_rows); left != "0")
        return left + " locks are left held on the server";
    return {};
}

long long database_books::commands_sent() const {
    return questions() - questions_before_;
}

double database_books::cpu_seconds() const {
    return cpu_seconds_of(server_.pid());
}

long long database_books::updates() const {
    return static_cast<long long>(server_.counted("Com_update"));
}

long long database_books::questions() const {
    return static_cast<long long>(server_.counted("Questions"));
}

namespace {

/// The table of ShedLock's documentation.
constexpr const char* table_of_shed_lock =
    "CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL, "
    "locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), "
    "locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name)) ENGINE=InnoDB";

} // namespace

database::database() {
    mysql::add_schemes();
    client{server_.url()}.set_up();
    server_.sql(table_of_shed_lock);
}

double database::cpu_seconds() const {
    return cpu_seconds_of(server_.pid());
}

site one_database(server_groups& all) try {
    support::mariadb_server& server = all.the<database>().server();
    return {.url = server.url(),
            .ports = {server.port()},
            .books = [&server] { return std::make_unique<database_books>(server); },
            .database = &server};
} catch (const support::server_unavailable& missing) {
    throw not_here{missing.what()};
}

support::mariadb_server& database_of(const site& where) {
    return *where.database;
}

// Comparison programs on MariaDB, for locks that only one thread wants. Each thread has a session,
// and sleeps until the reply arrives.

namespace {

/// User lock of MariaDB (GET_LOCK). The user lock ends when its session ends, and exists only on
/// this server.
class user_lock {
public:
    user_lock(const support::mariadb_server& where, const std::string& name, const std::string&)
        : session_{where}
        , attempt_{"SELECT GET_LOCK('" + name + "', 0)"}
        , release_{"SELECT RELEASE_LOCK('" + name + "')"} {}

    void lock() { expect_one(attempt_); }
    void unlock() { expect_one(release_); }

private:
    void expect_one(const std::string& statement) {
        if (session_.value(statement) != "1")
            throw std::runtime_error{"a user lock was not granted, or not released"};
    }

    session session_;
    const std::string attempt_, release_;
};

template <typename Lock>
class threads_with_sessions final : public contender {
public:
    /// `updates` is the number of UPDATEs in a pair of lock and unlock.
    threads_with_sessions(const arena& where, int updates)
        : updates_{updates} {
        for (int i = 0; i < where.at_once; ++i)
            locks_.emplace_back(database_of(*where.group), name_of_lock(i), "bench");
    }

    tally run(nanoseconds length) override {
        return in_threads(static_cast<int>(locks_.size()), length, [this](int i) {
            return time_of([&] {
                locks_[i].lock();
                locks_[i].unlock();
            });
        });
    }

    claim scripts_for(const tally& all) const override {
        return {updates_ * all.done, updates_ * all.done};
    }

private:
    std::deque<Lock> locks_; // a deque does not move its elements
    const int updates_;
};

} // namespace

made shed_lock_threads(const arena& where) {
    return std::make_unique<threads_with_sessions<shed_lock>>(where, 2);
}

made user_lock_threads(const arena& where) {
    return std::make_unique<threads_with_sessions<user_lock>>(where, 0);
}

made holdfast_threads_without_bell(const arena& where) {
    arena quiet = where;
    quiet.query = "?bell=no";
    return holdfast_threads(quiet);
}

// A waiter that polls for a lock of ShedLock.

namespace {

class shed_lock_relay final : public relay {
public:
    explicit shed_lock_relay(const arena& where)
        : relay{a_while}
        , held_{database_of(*where.group), name_of_lock(0), "one"}
        , wanted_{database_of(*where.group), name_of_lock(0), "another"} {}

private:
    void hold_back() override { held_.lock(); }
    void wait() override { lock_patiently(wanted_); }
    void give_back() override { wanted_.unlock(); }
    void let_go_on() override { held_.unlock(); }

    shed_lock held_, wanted_;
};

} // namespace

made shed_lock_wake_up(const arena& where) {
    return std::make_unique<shed_lock_relay>(where);
}

// Measures the load that waiters cause on the server. One lock is held for the whole measurement,
// and all waiters want it, each through its own client or session.

namespace {

class waiting_crowd : public contender {
public:
    explicit waiting_crowd(int waiters)
        : waiters_{waiters} {}

    /// Runs one measurement and counts the waiters. A sample is how long one waiter waited.
    tally run(nanoseconds length) final {
        hold_back();
        auto all = std::async(std::launch::async, [&] {
            // Each waiter waits only once: the lock is released at the end of the measurement.
            return in_threads(waiters_, length / 2,
                              [this](int i) { return time_of([&] { wait_and_leave(i); }); });
        });
        std::this_thread::sleep_for(length);
        let_go_on();
        return all.get();
    }

    /// There is no maximum number of UPDATEs, because waiters poll and holders renew.
    claim scripts_for(const tally& all) const final {
        return {2 * all.done + 2, std::numeric_limits<long long>::max()};
    }

private:
    virtual void hold_back() = 0;
    virtual void let_go_on() = 0;
    virtual void wait_and_leave(int which) = 0;

    const int waiters_;
};

struct one_client {
    explicit one_client(const std::string& url)
        : home{url} {}
    client home;
    mutex lock{home, name_of_lock(0)};
};

class waiting_clients final : public waiting_crowd {
public:
    explicit waiting_clients(const arena& where)
        : waiting_crowd{where.at_once}
        , holder_{where.url()} {
        for (int i = 0; i < where.at_once; ++i)
            waiters_.emplace_back(where.url());
    }

private:
    void hold_back() override { holder_.lock.lock(); }
    void let_go_on() override { expect_unlocked(holder_.lock); }
    void wait_and_leave(int which) override {
        waiters_[which].lock.lock();
        expect_unlocked(waiters_[which].lock);
    }

    one_client holder_;
    std::deque<one_client> waiters_; // a deque does not move its elements
};

class waiting_sessions final : public waiting_crowd {
public:
    explicit waiting_sessions(const arena& where)
        : waiting_crowd{where.at_once}
        , holder_{database_of(*where.group), name_of_lock(0), "holder"} {
        for (int i = 0; i < where.at_once; ++i)
            waiters_.emplace_back(database_of(*where.group), name_of_lock(0),
                                  "waiter " + std::to_string(i));
    }

private:
    void hold_back() override { holder_.lock(); }
    void let_go_on() override { holder_.unlock(); }
    void wait_and_leave(int which) override {
        lock_patiently(waiters_[which]);
        waiters_[which].unlock();
    }

    shed_lock holder_;
    std::deque<shed_lock> waiters_; // a deque does not move its elements
};

} // namespace

made holdfast_waiters(const arena& where) {
    return std::make_unique<waiting_clients>(where);
}

made shed_lock_waiters(const arena& where) {
    return std::make_unique<waiting_sessions>(where);
}

namespace {

using support::mariadb_server;

class troubled_mariadb final : public troubled<mariadb_server> {
public:
    troubled_mariadb()
        : troubled{&mariadb_server::port, support::mariadb(),
                   mariadb_server::options{.tls = true}} {
        mysql::add_schemes();
        client{server().url()}.set_up();
    }

    std::string url() const override {
        return std::string{"mysql://"} + mariadb_server::user + ":" + mariadb_server::password +
               "@" + address() + "/" + mariadb_server::schema + settings_of_tls();
    }
};

} // namespace

std::unique_ptr<troubled_server> troubled_database() try {
    return std::make_unique<troubled_mariadb>();
} catch (const support::server_unavailable& missing) {
    throw not_here{missing.what()};
}

} // namespace holdfast::bench
