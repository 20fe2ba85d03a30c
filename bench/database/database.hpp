// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/server/server_groups.hpp"
#include "support/mariadb_server.hpp"

namespace holdfast::bench {

/// MariaDB server with the tables of holdfast and ShedLock. Each commit waits for the disk, which
/// is MariaDB's default. The constructor throws `support::server_unavailable`.
class database final : public lone_server {
public:
    database();

    support::mariadb_server& server() { return server_; }
    double cpu_seconds() const override;
    std::string version() override { return server_.value("SELECT VERSION()"); }

private:
    support::mariadb_server server_{support::mariadb(), {.flush_at_commit = 1}};
};

site one_database(server_groups&); ///< throws `not_here`

/// Returns the site's MariaDB server, for bare connections. The site must be a MariaDB site.
support::mariadb_server& database_of(const site&);

} // namespace holdfast::bench
