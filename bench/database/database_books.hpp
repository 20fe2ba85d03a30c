// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/ledger.hpp"
#include "support/mariadb_server.hpp"

namespace holdfast::bench {

/// Statistics of a MariaDB server. Each attempt and each release is an UPDATE, on both sides; so is
/// a renewal.
class database_books final : public ledger {
public:
    explicit database_books(support::mariadb_server& of)
        : server_{of} {}

    void clear() override;
    std::string trouble_with(const claim&) const override;
    long long commands_sent() const override; ///< statements of all clients, including our own
    double cpu_seconds() const override;

private:
    long long updates() const;
    long long questions() const;

    support::mariadb_server& server_;
    long long updates_before_ = 0;
    long long questions_before_ = 0;
};

} // namespace holdfast::bench
