// SPDX-License-Identifier: Apache-2.0
#include "url/server.hpp"

#include "refusal.hpp"
#include "url/hosts.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace holdfast::url {
namespace {

/// Scheme for a network connection, its TLS variant, and an example URL for error messages.
struct network_form {
    std::string_view scheme;
    std::string_view over_tls;
    const char* example;
};
constexpr network_form one_server{"redis", "rediss", "redis://127.0.0.1:6379"};
constexpr network_form sentinels{"redis+sentinel", "rediss+sentinel",
                                 "redis+sentinel://127.0.0.1:26379/SERVICE"};
constexpr network_form cluster{"redis+cluster", "rediss+cluster", "redis+cluster://127.0.0.1:6379"};

bool is_of(const network_form& form, const parts& all) {
    return all.scheme == form.scheme || all.scheme == form.over_tls;
}

redis::options over_network(const parts& all, const network_form& form) {
    if (!all.has_authority)
        refuse("url: behind " + all.scheme + ": two slashes and a host must follow, as in " +
               form.example);
    redis::options server;
    if (all.scheme == form.over_tls)
        server.tls.emplace();
    return server;
}

/// Reads the database number after a '/' in the path. The text may be empty.
void read_database_in_path(const parts& all, std::string_view text, redis::options& into) {
    if (text.empty())
        return;
    if (std::ranges::count(all.parameters, "database", &parameter::name) > 0)
        refuse("url: the database is given twice, in the path and as a parameter");
    into.database = read_database(all, text);
}

std::string_view behind_first_slash(const parts& all) {
    return std::string_view{all.path}.substr(all.path.empty() ? 0 : 1);
}

redis::options of_one_server(const parts& all) {
    redis::options server = over_network(all, one_server);
    // The error does not show the hosts, because their text may be a password.
    if (all.hosts.size() > 1)
        refuse(
            "url: " + all.scheme +
            ":// has one host, and here are several; Sentinels are "
            "written redis+sentinel://HOST,HOST/SERVICE and a cluster redis+cluster://HOST,HOST");
    const host_and_port& there = all.hosts.front();
    if (there.host.empty())
        refuse("url: it names no host, as redis://127.0.0.1:6379 does; the path of a unix socket "
               "is written unix:///path");
    server.host = there.host;
    if (there.port)
        server.port = read_port(all, *there.port);
    read_database_in_path(all, behind_first_slash(all), server);
    return server;
}

redis::options of_sentinels(const parts& all) {
    redis::options server = over_network(all, sentinels);
    redis::sentinel_options& them = server.sentinel.emplace();
    them.addresses = servers_in(all, sentinels.example);
    if (all.segments.empty() || all.segments[0].empty())
        refuse("url: it names no service; the name that the Sentinels have given to the primary "
               "follows the hosts, as in redis+sentinel://127.0.0.1:26379/SERVICE");
    if (all.segments.size() > 2)
        refuse("url: behind the service only a '/' and a database may follow; a '/' in the "
               "service's name is written %2F");
    them.service = all.segments[0];
    read_database_in_path(all, all.segments.size() > 1 ? all.segments[1] : "", server);
    return server;
}

redis::options of_cluster(const parts& all) {
    redis::options server = over_network(all, cluster);
    server.cluster.emplace().addresses = servers_in(all, cluster.example);
    read_database_in_path(all, behind_first_slash(all), server);
    return server;
}

redis::options over_unix_socket(const parts& all) {
    const host_and_port& there = all.hosts.front();
    if (all.hosts.size() > 1 || !there.host.empty() || there.port)
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

std::uint32_t read_database(const parts& all, std::string_view text) {
    std::uint32_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [behind, failed] = std::from_chars(text.data(), end, number);
    if (failed != std::errc{} || behind != end)
        refuse("url: the database " + shown(all, text) +
               " is no number; it is written redis://host/2, redis+sentinel://host/SERVICE/2 or "
               "?database=2");
    return number;
}

redis::options read_server(const parts& all) {
    redis::options server = is_of(one_server, all)  ? of_one_server(all)
                            : is_of(sentinels, all) ? of_sentinels(all)
                            : is_of(cluster, all)   ? of_cluster(all)
                                                    : over_unix_socket(all);
    server.user = all.user;
    server.password = all.password;
    return server;
}

} // namespace holdfast::url
