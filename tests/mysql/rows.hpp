// SPDX-License-Identifier: Apache-2.0
// The store's statements on a real server, without the store.
#pragma once

#include "store/mysql/lock_statements.hpp"
#include "store/mysql/sql.hpp"
#include "support/eventually.hpp"
#include "support/mariadb_server.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::mysql {

using namespace std::chrono_literals;

inline const tables in_schema{"holdfast_lock"};
inline const std::string never_late = "9223372036854775807";

/// One server for all tests of the process: to start one takes longer than most of them.
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

} // namespace holdfast::mysql
