// SPDX-License-Identifier: Apache-2.0
// Databases with a real clock that the test's own thread runs, on a real server.
#pragma once

#include "mysql/database.hpp"
#include "support/driven_loop.hpp"
#include "support/mariadb_server.hpp"
#include "support/on_each_server.hpp"
#include "support/recorder.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace holdfast {

/// Always the same texts; or what a function says.
class fixed_statements final : public mysql::statements {
public:
    explicit fixed_statements(std::vector<std::string> all)
        : all_{std::move(all)} {}
    std::vector<std::string> compose(const runtime::remote_clock&,
                                     const mysql::server_facts&) override {
        ++composed;
        return all_;
    }
    int composed = 0;

private:
    std::vector<std::string> all_;
};

/// A database with a real clock, run on the test's own thread.
class driven_database : protected support::driven_loop {
public:
    /// Result of one call, which runs while the test runs the loop.
    struct asking {
        explicit asking(std::vector<std::string> all)
            : what{std::move(all)} {}
        fixed_statements what;
        mysql::call_options options{};
        bool done = false;
        mysql::answers got{};
        error_code code{};
        std::string text{};

        /// Returns the first value of the last statement's reply. The value NULL is "NULL", and a
        /// reply without rows is "nothing".
        std::string value() const {
            if (got.of.empty() || got.of.back().rows.empty())
                return "nothing";
            return got.of.back().rows.front().front().value_or("NULL");
        }
    };
    using asked = std::shared_ptr<asking>;

    ~driven_database() {
        forget_database();
        run_to_the_end();
    }

    mysql::database& database() {
        if (!database_)
            database_ = mysql::make_database(how_, context());
        return *database_;
    }
    void forget_database() {
        if (database_)
            database_->close();
        database_.reset();
    }

    store_context context() {
        store_context made = driven_loop::context();
        made.revalidate = [this](const std::function<bool(const lock_name&)>& which, bool urgent) {
            EXPECT_FALSE(which) << "of all holds";
            doubts_.push_back(urgent);
        };
        made.holds_any = [this] { return holds_; };
        return made;
    }

    asked begin(std::vector<std::string> all, mysql::call_options options = {}) {
        return begin_on(io_.get_executor(), std::move(all), std::move(options));
    }
    asked begin_on(const asio::any_io_executor& where, std::vector<std::string> all,
                   mysql::call_options options = {}) {
        const auto made = std::make_shared<asking>(std::move(all));
        made->options = std::move(options);
        asio::co_spawn(where, run(database(), made),
                       [made](const std::exception_ptr& failed) { end(*made, failed); });
        return made;
    }
    asked ask_all(std::vector<std::string> all, mysql::call_options options = {}) {
        const asked made = begin(std::move(all), std::move(options));
        EXPECT_TRUE(run_until([&] { return made->done; }));
        return made;
    }
    asked ask(std::string one, mysql::call_options options = {}) {
        return ask_all({std::move(one)}, std::move(options));
    }

    std::shared_ptr<mysql::pinned_connection> connection_to_wait_on() {
        std::shared_ptr<mysql::pinned_connection> got;
        bool done = false;
        auto wait = [&]() -> asio::awaitable<void> {
            got = co_await database().connection_to_wait_on(time_point::max());
        };
        asio::co_spawn(io_, wait(), [&](const std::exception_ptr& failed) {
            done = true;
            waiting_failed_ = failed != nullptr;
        });
        EXPECT_TRUE(run_until([&] { return done; }));
        return got;
    }

    mysql::options how_;
    bool holds_ = false;
    std::vector<bool> doubts_;
    bool waiting_failed_ = false;
    std::unique_ptr<mysql::database> database_;

private:
    static asio::awaitable<void> run(mysql::database& on, asked mine) {
        mine->got = co_await on.run(mine->what, mine->options);
    }
    static void end(asking& mine, const std::exception_ptr& failed) {
        mine.done = true;
        const support::thrown why = support::thrown_of(failed);
        mine.code = why.code;
        mine.text = why.text;
    }
};

/// A database on a real server of each test's own, or on one that all tests of the program share.
class database_on_server : public ::testing::Test, protected driven_database {
protected:
    explicit database_on_server(std::optional<support::mariadb_server::options> own = {})
        : own_{std::move(own)} {}

    void SetUp() override {
        support::make_or_skip([this] { make_server(); });
        if (IsSkipped() || HasFatalFailure())
            return;
        how_.unix_socket = server().socket_path();
        how_.schema = support::mariadb_server::schema;
        how_.user = support::mariadb_server::user;
        how_.password = support::mariadb_server::password;
        how_.backoff_max = duration{200};
    }

    /// None: there is no such server here, and the test is skipped.
    virtual std::optional<support::server_binary> which() const { return support::mariadb(); }

    support::mariadb_server& server() { return *server_; }

    void use_tcp(const std::string& host = "127.0.0.1") {
        how_.unix_socket.clear();
        how_.servers = {{host, server().port()}};
    }

    /// Returns how many connections of this client the server has.
    std::string connections() {
        return server().value("SELECT COUNT(*) FROM information_schema.processlist WHERE user='" +
                              std::string{support::mariadb_server::user} + "'");
    }
    /// The connection that this was answered by.
    std::string connection_of(const asked& call) { return call->code ? call->text : call->value(); }

private:
    void make_server() {
        if (own_) {
            if (!which())
                throw support::server_unavailable{"there is none of these servers here"};
            server_ = std::make_shared<support::mariadb_server>(*which(), *own_);
            return;
        }
        static const auto shared = std::make_shared<support::mariadb_server>();
        server_ = shared;
    }

    const std::optional<support::mariadb_server::options> own_;
    std::shared_ptr<support::mariadb_server> server_;
};

/// With a table that has two rows.
class database_with_rows : public database_on_server {
protected:
    void SetUp() override {
        database_on_server::SetUp();
        if (IsSkipped() || HasFatalFailure())
            return;
        server().sql("CREATE OR REPLACE TABLE t (k INT PRIMARY KEY, v BIGINT UNSIGNED) "
                     "ENGINE=InnoDB");
        server().sql("INSERT INTO t VALUES (1, 10), (2, 20)");
    }
};

} // namespace holdfast
