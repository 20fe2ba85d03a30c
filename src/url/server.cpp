// SPDX-License-Identifier: Apache-2.0
#include "url/server.hpp"

#include "refusal.hpp"
#include "url/parameters.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace holdfast::url {
namespace {

std::uint16_t port_of(const std::string& text) {
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

/// A scheme over the network, and what a URL of it looks like.
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

/// Behind a '/' of the path, which may be left out if nothing follows.
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
    // Not shown, as the port.
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
        server.port = port_of(*there.port);
    read_database_in_path(all, behind_first_slash(all), server);
    return server;
}

std::vector<redis::server_address> addresses_of(const parts& all, const network_form& form) {
    std::vector<redis::server_address> found;
    for (const host_and_port& each : all.hosts) {
        if (each.host.empty())
            refuse(std::string{all.hosts.size() > 1 ? "url: one of its hosts is empty; hosts are "
                                                      "separated by one ',' each, as in "
                                                    : "url: it names no host, as in "} +
                   form.example);
        found.push_back({each.host, each.port ? port_of(*each.port) : std::uint16_t{}});
    }
    return found;
}

redis::options of_sentinels(const parts& all) {
    redis::options server = over_network(all, sentinels);
    redis::sentinel_options& them = server.sentinel.emplace();
    them.addresses = addresses_of(all, sentinels);
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
    server.cluster.emplace().addresses = addresses_of(all, cluster);
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

bool names_server(const parts& all) {
    return is_of(one_server, all) || is_of(sentinels, all) || is_of(cluster, all) ||
           all.scheme == "unix" || all.scheme == "redis+unix";
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
