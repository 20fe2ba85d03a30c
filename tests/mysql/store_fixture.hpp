// SPDX-License-Identifier: Apache-2.0
// Fixtures of the MySQL store on a real server: its statements, clients and waiters.
#pragma once

#include "store/mysql/lock_statements.hpp"
#include "store/mysql/sql.hpp"
#include "support/eventually.hpp"
#include "support/mariadb_server.hpp"

#include <holdfast/holdfast.hpp>
#include <holdfast/mysql/options.hpp>

#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::mysql {

// The store's statements on a real server, without the store.

using namespace std::chrono_literals;

inline const tables in_schema{"holdfast_lock"};
inline const std::string never_late = "9223372036854775807";

/// One server for all tests of the process, because starting a server takes longer than most tests.
inline support::mariadb_server& mariadb_of_process() {
    static support::mariadb_server server;
    static const bool made = [] {
        for (const std::string& each : making(in_schema))
            server.sql(each);
        return true;
    }();
    (void)made;
    return server;
}

/// A session that is set up as a client's are.
class session {
public:
    explicit session(support::mariadb_server& at)
        : link_{at.socket_path(),
                {support::mariadb_server::user, support::mariadb_server::password,
                 support::mariadb_server::schema, true}} {
        run("SET time_zone='+00:00',sql_mode='STRICT_ALL_TABLES',innodb_lock_wait_timeout=5");
        run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    }

    support::sql_connection::rows run(const std::string& text) { return link_.run(text); }
    std::string value(const std::string& text) { return link_.value(text); }
    std::uint64_t changed() const { return link_.changed(); }
    std::uint64_t insert_id() const { return link_.insert_id(); }
    std::uint64_t id() const { return link_.id(); }

    packed_answer attempt(const ask& want, const std::string& late = never_late,
                          const std::string& bell = {}) {
        run(lock_attempt(in_schema, want, {.late = late, .info = "who", .bell = bell}));
        return taken_apart(link_.insert_id());
    }
    /// Anything else than a grant: as if there were no row.
    packed_answer attempt_if_free(const ask& want, const std::string& late = never_late) {
        run(lock_attempt_if_free(in_schema, want, {.late = late, .info = "who"}));
        return taken_apart(link_.insert_id());
    }
    /// Whether it was the owner's, and alive.
    bool release(const hold& held) { return release(held, {}) == 2; }
    std::uint64_t release(const hold& held, const std::string& bell) {
        run(lock_release(in_schema, held, bell));
        return link_.insert_id();
    }
    /// Nothing: it was refused.
    packed_answer read(const ask& want, const std::string& late = never_late,
                       const std::string& mark = "mark") {
        const auto texts = read_attempt(in_schema, want, {late, "who", mark});
        packed_answer told;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            run(texts[i]);
            if (i == read_update_at)
                told = taken_apart(link_.insert_id());
            if (i == read_insert_at && told.said == remote::verdict::granted && changed() == 0)
                told.said = remote::verdict::late;
        }
        return told;
    }
    packed_answer take_permits(const ask& want, const std::string& mark = "mark") {
        const auto texts = permit_attempt(in_schema, want, {never_late, "who", mark});
        packed_answer told;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            run(texts[i]);
            if (i == permit_update_at)
                told = taken_apart(link_.insert_id());
        }
        return told;
    }

    /// Microseconds since 1970, as its clock is now.
    std::int64_t now() { return std::stoll(value("SELECT " + std::string{runs_of_server})); }

private:
    static constexpr const char* runs_of_server =
        "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',SYSDATE(6))";

    support::sql_connection link_;
};

/// A test with a name of its own in the tables.
class on_rows : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            mariadb_of_process();
        } catch (const support::server_unavailable& why) {
            if (support::servers_are_required())
                FAIL() << why.what();
            GTEST_SKIP() << why.what();
        }
        const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
        name_ = lock_name{std::string{test->test_suite_name()} + '.' + test->name()};
        operate_.emplace(server());
        operate_->run(lock_row(in_schema, name_));
    }

    support::mariadb_server& server() { return mariadb_of_process(); }
    session& operate() { return *operate_; }

    ask wanted(lock_kind kind, std::uint64_t number, duration lease = 30s,
               std::uint8_t client = 1) {
        ask want{name_, owner_id{{client, 0, 0, 0, 0, 0, 0x8f, 0xd5}, number}, kind};
        want.lease_time = lease;
        return want;
    }
    std::string of_row(const std::string& column) {
        return operate_->value("SELECT " + column + " FROM " + in_schema.locks +
                               " WHERE name=" + hex(name_.text));
    }

    lock_name name_{""};

private:
    std::optional<session> operate_;
};

// List of the times in which each client believed that it held the lock. The list is checked at the
// end.

/// A hold as its owner believed it.
struct claim {
    std::chrono::steady_clock::time_point from, to;
    std::uint64_t token = 0;
    bool shared = false;
};

using claims = std::vector<claim>;

/// Takes by `take`, which returns a future of an optional lease, and releases until it is `over`.
template <typename Take>
claims take_and_release(const std::atomic<bool>& over, Take take, bool shared = false) {
    claims all;
    while (!over) {
        std::optional<lease> held;
        try {
            held = take().get();
        } catch (const boost::system::system_error&) {
            continue; // unreachable, or not known: nothing is claimed
        }
        if (!held || !held->owns_lock())
            continue;
        const auto from = std::chrono::steady_clock::now();
        std::this_thread::yield();
        const auto to = std::chrono::steady_clock::now();
        if (held->owns_lock())
            all.push_back({from, to, held->fencing_token(), shared});
        error_code ec;
        held->unlock(ec);
    }
    return all;
}

/// No two overlap of which one is not shared.
inline void expect_no_overlap(claims all) {
    std::ranges::sort(all, {}, &claim::from);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t next = i + 1; next < all.size() && all[next].from < all[i].to; ++next)
            EXPECT_TRUE(all[i].shared && all[next].shared) << "two held it at once";
}

/// In the order in which they were held, each is greater than the one before.
inline void expect_tokens_grow(claims all) {
    std::ranges::sort(all, {}, &claim::from);
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_LT(all[i - 1].token, all[i].token);
}

// Clients of the store on a real server.

inline options reaching(const support::mariadb_server& at) {
    options how;
    how.unix_socket = at.socket_path();
    how.schema = support::mariadb_server::schema;
    how.user = support::mariadb_server::user;
    how.password = secret{support::mariadb_server::password};
    return how;
}

inline client client_of(options how, holdfast::options more = {}) {
    more.store = make_store(std::move(how));
    return client{std::move(more)};
}

/// Nothing but doubt has what is held asked for within a test.
inline constexpr duration long_lease = std::chrono::hours{1};

inline void make_tables_at(support::mariadb_server& server) {
    for (const std::string& each : making(in_schema))
        server.sql(each);
}

inline lease lease_of(fenced_mutex& lock) {
    return support::soon(lock.async_lock(boost::asio::use_future));
}

/// One that is sent now has an answer, or is given up.
inline void wait_longer_than_a_request() {
    const options usual;
    const auto end = std::chrono::steady_clock::now() + usual.command_timeout + 500ms;
    EXPECT_TRUE(support::eventually([&] { return std::chrono::steady_clock::now() > end; }));
}

/// Each kind of lock, with a function that takes the lock, releases it, and returns whether it was
/// taken.
struct kind_of_lock {
    std::string name;
    bool (*take_and_release)(client&, const std::string& name);
    bool needs_delete = true;
};

template <typename Lock>
bool take_exclusive(client& home, const std::string& name) {
    Lock lock{home, name};
    if (!lock.try_lock_for(1h))
        return false;
    lock.unlock();
    return true;
}

inline bool take_shared(client& home, const std::string& name) {
    shared_mutex lock{home, name};
    if (!lock.try_lock_shared_for(1h))
        return false;
    lock.unlock_shared();
    return true;
}

inline bool take_permit(client& home, const std::string& name) {
    leased_semaphore seats{home, name};
    std::optional<lease> held = seats.try_acquire();
    if (held)
        held->unlock(); // waits for the reply
    return held.has_value();
}

inline const std::vector<kind_of_lock> kinds_of_lock{
    {"mutex", take_exclusive<mutex>, false}, {"fenced", take_exclusive<fenced_mutex>, false},
    {"fair", take_exclusive<fair_mutex>},    {"read", take_shared},
    {"write", take_exclusive<shared_mutex>}, {"permit", take_permit}};

class on_store : public on_rows {
protected:
    client make_client(holdfast::options more = {}) {
        return client_of(reaching(server()), std::move(more));
    }

    /// On a thread of its own, which waits as long as need be.
    template <typename Work>
    auto meanwhile(Work work) {
        return std::async(std::launch::async, std::move(work));
    }

    bool is_held() { return of_row("expires>UTC_TIMESTAMP(6)") == "1"; }
};

/// Waiters at the bell of one lock.
class on_bell : public on_store {
protected:
    std::string bell() { return bell_of(support::mariadb_server::schema, "holdfast_lock", name_); }

    std::uint64_t waiting_for_bell() {
        return std::stoull(server().value("SELECT COUNT(*) FROM information_schema.processlist "
                                          "WHERE STATE='User lock'"));
    }
    bool somebody_waits_for_bell() {
        return support::eventually([&] { return waiting_for_bell() > 0; });
    }
    void kill_waiting() {
        for (const auto& row : server().sql("SELECT ID FROM information_schema.processlist WHERE "
                                            "STATE='User lock'"))
            server().sql("KILL " + row.at(0).value());
    }
    std::future<bool> taken_meanwhile(mutex& lock) {
        return meanwhile([&lock] {
            lock.lock();
            lock.unlock();
            return true;
        });
    }

    /// No poll of the loop's own finds anything in time.
    static holdfast::options seldom() { return {.poll_bound = std::chrono::hours{1}}; }
};

} // namespace holdfast::mysql
