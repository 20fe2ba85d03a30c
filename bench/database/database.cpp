// SPDX-License-Identifier: Apache-2.0
#include "bench/database/database.hpp"

#include "bench/contenders/redisson.hpp"
#include "bench/database/database_books.hpp"
#include "bench/server/cpu.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mysql/options.hpp>

namespace holdfast::bench {
namespace {

/// The table of ShedLock's documentation.
constexpr const char* table_of_shed_lock =
    "CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL, "
    "locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), "
    "locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name)) ENGINE=InnoDB";

} // namespace

database::database() {
    mysql::add_schemes();
    client{server_.url()}.set_up();
    server_.sql(table_of_shed_lock);
}

double database::cpu_seconds() const {
    return cpu_seconds_of(server_.pid());
}

site one_database(server_groups& all) try {
    support::mariadb_server& server = all.the<database>().server();
    return {.url = server.url(),
            .ports = {server.port()},
            .books = [&server] { return std::make_unique<database_books>(server); },
            .database = &server};
} catch (const support::server_unavailable& missing) {
    throw not_here{missing.what()};
}

support::mariadb_server& database_of(const site& where) {
    return *where.database;
}

} // namespace holdfast::bench
