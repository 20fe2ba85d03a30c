// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driven_database.hpp"
#include "support/mariadb_server.hpp"
#include "support/on_each_server.hpp"

#include <memory>
#include <optional>
#include <string>

namespace holdfast {

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

    /// So many connections of ours the server has.
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
