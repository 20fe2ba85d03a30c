// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/mariadb_server.hpp"

#include <memory>
#include <string>

struct st_mysql;

namespace holdfast::bench {

/// Session over TCP, directly on libmariadb's blocking calls.
class session {
public:
    explicit session(const support::mariadb_server&); ///< connects as the user of our schema

    /// Runs the statement and returns the number of rows that it matched. Throws the error of the
    /// server.
    long long change(const std::string& statement);
    /// Returns the only value of a SELECT.
    std::string value(const std::string& statement);

private:
    struct closes {
        void operator()(st_mysql*) const noexcept;
    };
    void send(const std::string& statement);

    std::unique_ptr<st_mysql, closes> handle_;
};

} // namespace holdfast::bench
