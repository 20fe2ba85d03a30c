// SPDX-License-Identifier: Apache-2.0
#include "store/mysql/url.hpp"

namespace holdfast::mysql {
namespace {

bool is_local(const store_url& url) {
    return url.scheme().ends_with("+unix");
}

std::string socket_of(const store_url& url) {
    const std::string example = url.scheme() + ":///run/mysqld/mysqld.sock?database=SCHEMA";
    if (url.names_servers())
        url.refuse("a unix socket has no host; its path begins with a third slash, as in " +
                   example);
    if (url.path().size() < 2 || url.path()[0] != '/')
        url.refuse("it names no socket; its path is written from the root, as in " + example);
    return url.path();
}

/// Returns the schema from the URL's path, or an empty text if the path has no schema.
std::string schema_in_path(const store_url& url) {
    const std::vector<std::string>& segments = url.segments();
    const std::size_t used =
        segments.empty() || !segments.back().empty() ? segments.size() : segments.size() - 1;
    if (used > 1)
        url.refuse("behind the hosts only a '/' and the schema may follow, which is the database; "
                   "a '/' in its name is written %2F");
    return used == 0 ? std::string{} : segments.front();
}

void read_schema(store_url& url, options& how) {
    if (!is_local(url))
        how.schema = schema_in_path(url);
    const auto database = url.given("database");
    if (database && !how.schema.empty())
        url.refuse("the database is given twice, in the path and as a parameter");
    if (database)
        how.schema = *database;
    if (how.schema.empty())
        url.refuse("it names no schema, which is the database that has the tables, as in " +
                   url.scheme() +
                   (is_local(url) ? ":///run/mysqld/mysqld.sock?database=SCHEMA"
                                  : "://127.0.0.1:3306/SCHEMA"));
}

} // namespace

options read_url(store_url& url) {
    options how;
    if (is_local(url))
        how.unix_socket = socket_of(url);
    else
        how.servers = url.servers(url.scheme() + "://127.0.0.1:3306/SCHEMA");
    how.user = url.user();
    how.password = url.password();
    how.credentials = url.credentials();
    url.read("connect_timeout", how.connect_timeout);
    url.read("command_timeout", how.command_timeout);
    read_schema(url, how);
    url.read("table", how.table);
    url.read("connections_max", how.connections_max);
    url.read("wait_connections_max", how.wait_connections_max);
    url.read("bell", how.bell);
    url.read("keep_alive", how.keep_alive);
    url.read("sweep", how.sweep);
    if (!is_local(url)) { // traffic on a unix socket cannot be intercepted
        url.read("server_key_file", how.server_key_file);
        url.read_tls(how.tls);
    }
    url.refuse_unknown();
    return how;
}

} // namespace holdfast::mysql
