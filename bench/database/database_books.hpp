// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/ledger.hpp"
#include "support/mariadb_server.hpp"

namespace holdfast::bench {

/// Statistics of a MariaDB server. They count UPDATEs. On both sides, each attempt, each release
/// and each renewal is an UPDATE.
class database_books final : public ledger {
public:
    explicit database_books(support::mariadb_server& of)
        : server_{of} {}

    void clear() override;
    std::string trouble_with(const claim&) const override;
    /// Statements of all clients, including the statements of this class.
    long long commands_sent() const override;
    double cpu_seconds() const override;

private:
    long long updates() const;
    long long questions() const;

    support::mariadb_server& server_;
    long long updates_before_ = 0;
    long long questions_before_ = 0;
};

} // namespace holdfast::bench
