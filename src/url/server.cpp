// SPDX-License-Identifier: Apache-2.0
#include "url/server.hpp"

#include "refusal.hpp"
#include "url/parameters.hpp"

#include <charconv>

namespace holdfast::url {
namespace {

std::uint16_t port_of(const parts& all) {
    const std::string& text = *all.port;
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto [behind, failed] = std::from_chars(text.data(), end, port);
    // Not shown: in redis://user:password, without a host, it is the password.
    if (failed != std::errc{} || behind != end || port == 0)
        refuse("url: the port, what follows the host's ':', is no number from 1 to 65535; an IPv6 "
               "address is written in brackets, as in redis://[::1]:6379, and user and password "
               "are followed by '@' and a host");
    return port;
}

bool is_of_network(const parts& all) {
    return all.scheme == "redis" || all.scheme == "rediss";
}

bool names_database_twice(const parts& all) {
    for (const parameter& given : all.parameters)
        if (given.name == "database")
            return !all.path.empty() && all.path != "/";
    return false;
}

redis::options over_network(const parts& all) {
    if (!all.has_authority)
        refuse("url: behind " + all.scheme +
               ": two slashes and a host must follow, as in "
               "redis://127.0.0.1:6379");
    if (all.host.empty())
        refuse("url: it names no host, as redis://127.0.0.1:6379 does; the path of a unix socket "
               "is written unix:///path");
    redis::options server;
    if (all.scheme == "rediss")
        server.tls.emplace();
    server.host = all.host;
    if (all.port)
        server.port = port_of(all);
    if (names_database_twice(all))
        refuse("url: the database is given twice, in the path and as a parameter");
    if (all.path.size() > 1)
        server.database = read_database(all, std::string_view{all.path}.substr(1));
    return server;
}

redis::options over_unix_socket(const parts& all) {
    if (!all.host.empty() || all.port)
        refuse("url: a unix socket has no host; its path begins with a third slash, as in "
               "unix:///run/redis.sock");
    if (all.path.size() < 2 || all.path[0] != '/')
        refuse("url: it names no socket; its path is written from the root, as in "
               "unix:///run/redis.sock");
    redis::options server;
    server.unix_socket = all.path;
    return server;
}

} // namespace

bool names_server(const parts& all) {
    return is_of_network(all) || all.scheme == "unix" || all.scheme == "redis+unix";
}

redis::options read_server(const parts& all) {
    redis::options server = is_of_network(all) ? over_network(all) : over_unix_socket(all);
    server.user = all.user;
    server.password = all.password;
    return server;
}

} // namespace holdfast::url
