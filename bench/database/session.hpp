// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/mariadb_server.hpp"

#include <memory>
#include <string>

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

} // namespace holdfast::bench
