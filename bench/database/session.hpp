// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/mariadb_server.hpp"

#include <memory>
#include <string>

struct st_mysql;

namespace holdfast::bench {

/// A session over TCP, by libmariadb's blocking calls and nothing around them.
class session {
public:
    explicit session(const support::mariadb_server&); ///< as the user of our schema

    /// How many rows it found to change. Throws what the server says.
    long long change(const std::string& statement);
    /// The only value of a SELECT.
    std::string value(const std::string& statement);

private:
    struct closes {
        void operator()(st_mysql*) const noexcept;
    };
    void send(const std::string& statement);

    std::unique_ptr<st_mysql, closes> handle_;
};

} // namespace holdfast::bench
