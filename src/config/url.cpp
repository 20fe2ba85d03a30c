// SPDX-License-Identifier: Apache-2.0
#include "config/url.hpp"

#include "config/errors.hpp"
#include "runtime/secret.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast {

options resolve_url(options how) {
    const url::parts all = url::split(how.url);
    runtime::wipe(how.url); // the URL may contain a password, and the client keeps its options
    url::refuse_what_others_write(all);
    const scheme_reader read = url::reader_of(all);
    url::reading inside{all, how.credentials};
    store_url seen{inside};
    url::read_client_parameters(seen, how);
    how.store = read(seen);
    seen.refuse_unknown(); // the user's own scheme reader may have forgotten this call
    return how;
}

namespace url {
namespace {

store_factory redis_store(store_url& url) {
    redis::options server = read_server(url.inside());
    server.credentials = url.credentials();
    read_server_parameters(url, server);
    url.refuse_unknown();
    if (server.sentinel)
        server.sentinel->tls = server.tls; // the Sentinels use the same certificate files
    return redis::make_store(std::move(server));
}

store_factory zookeeper_store(store_url& url) {
    return zookeeper::make_store(read_ensemble(url));
}

/// URL scheme of the core library. An error message lists the schemes; `followed_by` is the text
/// after this scheme's name in that list. `followed_by` is empty if the list leaves the scheme out.
struct own_scheme {
    std::string_view name;
    std::string_view followed_by;
    store_factory (*read)(store_url&);
};
constexpr own_scheme own_schemes[] = {
    {"redis", "://", redis_store},
    {"rediss", "://", redis_store},
    {"unix", ":// (or redis+unix://)", redis_store},
    {"redis+unix", "", redis_store},
    {"redis+sentinel", "://", redis_store},
    {"rediss+sentinel", "://", redis_store},
    {"redis+cluster", "://", redis_store},
    {"rediss+cluster", "://", redis_store},
    {"zk", ":// (or zookeeper://)", zookeeper_store},
    {"zookeeper", "", zookeeper_store},
};

/// URL schemes that a component of holdfast adds, if the program uses this component.
constexpr std::string_view scheme_of_testing = "memory";
constexpr std::string_view schemes_of_mysql[] = {"mysql", "mariadb", "mysql+unix", "mariadb+unix"};

template <typename Schemes, typename Projection = std::identity>
bool has(const Schemes& schemes, std::string_view name, Projection projection = {}) {
    return std::ranges::find(schemes, name, projection) != std::end(schemes);
}

/// URL schemes that the program has added. The object is never destroyed: while the program exits,
/// other static objects may still create clients, which need the schemes.
struct added_schemes {
    std::mutex mutex;
    std::map<std::string, scheme_reader, std::less<>> readers;
};
added_schemes& added() {
    static auto* const all = new added_schemes;
    return *all;
}

} // namespace

std::string allowed_schemes() {
    std::vector<std::string> all;
    for (const own_scheme& each : own_schemes)
        if (!each.followed_by.empty())
            all.push_back(std::string{each.name} + std::string{each.followed_by});
    {
        const std::scoped_lock guard{added().mutex};
        for (const auto& [name, reader] : added().readers)
            if (name != scheme_of_testing)
                all.push_back(name + "://");
        if (added().readers.contains(scheme_of_testing))
            all.push_back(std::string{scheme_of_testing} + ":");
    }
    std::string list;
    for (const std::string& each : all)
        list.append(list.empty() ? "" : &each == &all.back() ? " and " : ", ").append(each);
    return list;
}

scheme_reader reader_of(const parts& all) {
    const auto own = std::ranges::find(own_schemes, all.scheme, &own_scheme::name);
    if (own != std::end(own_schemes))
        return own->read;
    {
        const std::scoped_lock guard{added().mutex};
        const auto found = added().readers.find(all.scheme);
        if (found != added().readers.end())
            return found->second;
    }
    if (has(schemes_of_mysql, all.scheme))
        refuse("url: " + all.scheme +
               ":// belongs to the component holdfast::mysql (package libholdfast-mysql-dev); link "
               "it, and call holdfast::mysql::add_schemes() before the first client is made");
    if (all.scheme == scheme_of_testing)
        refuse("url: memory: belongs to the component holdfast::testing (package "
               "libholdfast-testing-dev); link it with the programs that use such URLs");
    refuse("url: there is no scheme " + in_quotes(all.scheme) + "; " + allowed_schemes() +
           " are allowed");
}

} // namespace url

void add_store_scheme(std::string scheme, scheme_reader reader) {
    if (url::scheme_of(scheme) != scheme || scheme.empty())
        refuse("a URL scheme consists of lower-case letters, digits, '+', '-' and '.', and begins "
               "with a letter; " +
               in_quotes(scheme) + " does not");
    if (url::has(url::own_schemes, scheme, &url::own_scheme::name))
        refuse("the scheme " + scheme + " is built into holdfast; choose another name");
    if (!reader)
        refuse("the scheme " + scheme + " has an empty reader");
    const std::scoped_lock guard{url::added().mutex};
    if (scheme == url::scheme_of_testing && url::added().readers.contains(scheme))
        refuse("the scheme memory is built into holdfast; choose another name");
    url::added().readers.insert_or_assign(std::move(scheme), std::move(reader));
}

} // namespace holdfast

namespace holdfast::url {
namespace {

enum class topology { sentinels, cluster };

/// URL scheme of other client libraries. In the table of these schemes, comments name the
/// libraries.
struct foreign_scheme {
    std::string_view scheme;
    topology what;
    bool over_tls;
};
constexpr foreign_scheme foreign_schemes[] = {
    {"redis-sentinel", topology::sentinels, false},  // lettuce, asynq, fred
    {"rediss-sentinel", topology::sentinels, true},  // lettuce, fred
    {"valkey-sentinel", topology::sentinels, false}, // fred
    {"valkeys-sentinel", topology::sentinels, true}, // fred
    {"sentinel", topology::sentinels, false},        // kombu
    {"redis-cluster", topology::cluster, false},     // fred
    {"rediss-cluster", topology::cluster, true},     // fred
    {"valkey-cluster", topology::cluster, false},    // fred
    {"valkeys-cluster", topology::cluster, true},    // fred
};

/// Parameters that name the Sentinels' service in the URLs of other clients: lettuce, go-redis,
/// asynq, fred.
constexpr std::string_view service_parameters[] = {"sentinelMasterId", "master_name", "master",
                                                   "sentinelServiceName"};
/// Parameters that name additional hosts in the URLs of other clients: go-redis, fred.
constexpr std::string_view host_parameters[] = {"addr", "node"};

template <std::size_t Count>
bool is_one_of(const std::string_view (&names)[Count], std::string_view name) {
    return std::ranges::find(names, name) != std::end(names);
}

/// Percent-encodes a text (RFC 3986), so that it can be copied and is safe for a terminal.
std::string encoded(std::string_view text, std::string_view also_allowed = {}) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                            "0123456789-._~";
    std::string all;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (unreserved.find(c) != unreserved.npos || also_allowed.find(c) != also_allowed.npos)
            all.push_back(c);
        else
            all.append({'%', digits[byte / 16], digits[byte % 16]});
    }
    return all;
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// Returns host and port as text. Returns nothing if the port may be a password: in
/// `redis-cluster://user:password` the host is missing, so the password is in the position of the
/// port.
std::optional<std::string> written(const host_and_port& one) {
    constexpr std::size_t digits_max = 5;
    if (one.host.empty() || (one.port && (!is_number(*one.port) || one.port->size() > digits_max)))
        return std::nullopt;
    const bool is_v6 = one.host.find(':') != one.host.npos;
    return (is_v6 ? '[' + encoded(one.host, ":") + ']' : encoded(one.host)) +
           (one.port ? ':' + *one.port : "");
}

std::optional<std::string> written_hosts(const parts& all) {
    std::string list;
    for (const host_and_port& each : all.hosts) {
        const auto one = written(each);
        if (!one)
            return std::nullopt;
        list += (list.empty() ? "" : ",") + *one;
    }
    for (const parameter& each : all.parameters)
        if (is_one_of(host_parameters, each.name))
            list += ',' + encoded(each.value.reveal(), ":[]");
    return list;
}

std::string service_in(const parts& all) {
    for (const parameter& each : all.parameters)
        if (is_one_of(service_parameters, each.name) && !each.value.empty())
            return encoded(each.value.reveal());
    return all.fragment && !all.fragment->empty() ? encoded(*all.fragment) : "SERVICE";
}

/// Returns the user's URL in the form that holdfast accepts, for an error message. Placeholders
/// replace parts that must not be shown or are too long.
std::string written_here(const parts& all, topology what, bool over_tls) {
    constexpr std::size_t length_max = 500;
    const bool of_sentinels = what == topology::sentinels;
    const auto hosts = all.may_show ? written_hosts(all) : std::nullopt;
    std::string service = all.may_show ? service_in(all) : "SERVICE";
    if (all.may_show && !all.segments.empty() && is_number(all.segments[0]))
        service += '/' + all.segments[0];
    const bool is_short = hosts && hosts->size() + service.size() <= length_max;
    const bool has_user = !all.user.empty() || !all.password.empty();
    return std::string{over_tls ? "rediss" : "redis"} + (of_sentinels ? "+sentinel" : "+cluster") +
           "://" + (has_user ? "USER:PASSWORD@" : "") +
           (is_short ? *hosts : "HOST:PORT,HOST:PORT") +
           (of_sentinels ? '/' + (is_short ? service : "SERVICE") : "");
}

/// Throws for a URL of go-redis. For a cluster or Sentinels, such a URL has one server as its host,
/// and the other servers in parameters.
void refuse_addresses(const parts& all) {
    const auto has = [&](std::string_view name) {
        return std::ranges::count(all.parameters, name, &parameter::name) > 0;
    };
    const bool over_tls = all.scheme == "rediss";
    if ((all.scheme == "redis" || over_tls) && has("addr"))
        refuse("url: the parameter addr belongs to another client; holdfast writes it as " +
               written_here(all, has("master_name") ? topology::sentinels : topology::cluster,
                            over_tls));
}

} // namespace

void refuse_what_others_write(const parts& all) {
    const auto found =
        std::ranges::find(foreign_schemes, std::string_view{all.scheme}, &foreign_scheme::scheme);
    if (found != std::end(foreign_schemes))
        refuse("url: " + all.scheme + ":// belongs to another client; holdfast writes it as " +
               written_here(all, found->what, found->over_tls));
    refuse_addresses(all);
    if (all.fragment)
        refuse("url: it contains a '#', but holdfast URLs have no fragments; in a name or a "
               "password, write '#' as %23");
}

void read_client_parameters(store_url& url, options& how) {
    url.read("lease_time", how.lease_time);
    url.read("max_hold", how.max_hold);
    url.read("unavailable_timeout", how.unavailable_timeout);
    url.read("release_timeout", how.release_timeout);
    url.read("close_timeout", how.close_timeout);
    url.read("poll_bound", how.poll_bound);
    url.read("hand_off_within", how.hand_off.within);
    url.read("hand_off_times_max", how.hand_off.times_max);
    url.read("required_replicas", how.required_replicas);
    url.read("prefix", how.prefix);
    url.read("label", how.label);
    url.read("announce", how.announce);
}

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
        refuse("url: after " + all.scheme + ": two slashes and a host must follow, as in " +
               form.example);
    redis::options server;
    if (all.scheme == form.over_tls)
        server.tls.emplace();
    return server;
}

/// Reads the database number that follows a '/' in the path. The text may be empty.
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
    // Do not put the hosts into the error text, because a password may be in their position.
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
        refuse("url: it names no service; after the hosts, give the name that the Sentinels have "
               "for the primary, as in redis+sentinel://127.0.0.1:26379/SERVICE");
    if (all.segments.size() > 2)
        refuse("url: after the service, only a '/' and a database may follow; in the service's "
               "name, write '/' as %2F");
    them.service = all.segments[0];
    if (them.service.find('@') != std::string::npos)
        refuse("url: the service " + shown(all, them.service) +
               " has an '@' in its name, which Sentinels do not allow");
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
        refuse("url: a unix socket has no host; its path begins at the third slash, as in "
               "unix:///run/redis.sock");
    if (all.path.size() < 2 || all.path[0] != '/')
        refuse("url: it names no socket; give the absolute path of the socket, as in "
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
               " is not a number; give it as redis://host/2, redis+sentinel://host/SERVICE/2 or "
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

namespace {

void read_sentinel_login(store_url& url, redis::options& server) {
    const auto needed = [&](std::string_view name) -> redis::sentinel_options& {
        if (!server.sentinel)
            url.refuse(std::string{name} + " is for redis+sentinel://");
        server.sentinel->own_login = true;
        return *server.sentinel;
    };
    if (const auto user = url.given("sentinel_user"))
        needed("sentinel_user").user = *user;
    if (const auto password = url.given("sentinel_password"))
        needed("sentinel_password").password = *password;
}

void read_polling(store_url& url, redis::options& server) {
    const auto text = url.given("polling");
    if (!text)
        return;
    std::uint32_t number = 0; // the option has 32 bits
    const char* const end = text->data() + text->size();
    const auto [behind, failed] = std::from_chars(text->data(), end, number);
    if (failed != std::errc{} || std::string_view{behind, end} != "us")
        url.refuse("polling " + url.shown(*text) +
                   " is not a whole number followed by us, as in 100us");
    server.polling = std::chrono::microseconds{number};
}

} // namespace

void read_server_parameters(store_url& url, redis::options& server) {
    using redis::pubsub_form;
    using redis::redisson_form;
    url.read("connect_timeout", server.connect_timeout);
    url.read("command_timeout", server.command_timeout);
    url.read("replica_timeout", server.replica_timeout);
    url.read("address_check", server.address_check);
    url.read("topology_check", server.topology_check);
    url.read_one_of("direct_hand_off", server.direct_hand_off, {{"on", true}, {"off", false}});
    url.read_one_of("pubsub", server.pubsub,
                    {{"auto", pubsub_form::automatic},
                     {"plain", pubsub_form::plain},
                     {"sharded", pubsub_form::sharded},
                     {"both", pubsub_form::both}});
    read_sentinel_login(url, server);
    url.read("fair_wait", server.fair_wait);
    url.read_one_of("redisson", server.redisson,
                    {{"3.13", redisson_form::v3_13},
                     {"3.16", redisson_form::v3_16},
                     {"3.17", redisson_form::v3_17}});
    if (const auto database = url.given("database"))
        server.database = read_database(url.inside(), *database);
    url.read("blocking_connections_max", server.blocking_connections_max);
    read_polling(url, server);
    read_tls_files(url, server.tls, "is for rediss://; without the second s nothing is protected");
}

namespace {

/// Returns the chroot in the format of ZooKeeper's connection strings, without a slash at its end.
std::string chroot_of(const store_url& url) {
    const std::string& path = url.path();
    return path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
}

} // namespace

zookeeper::options read_ensemble(store_url& url) {
    using zookeeper::node_acl;
    using zookeeper::node_form;
    zookeeper::options how;
    how.servers = url.servers("zk://127.0.0.1:2181/chroot");
    how.chroot = chroot_of(url);
    how.user = url.user();
    how.password = url.password();
    how.credentials = url.credentials();
    url.read("connect_timeout", how.connect_timeout);
    url.read("command_timeout", how.command_timeout);
    url.read("session_timeout", how.session_timeout);
    url.read("root", how.root);
    url.read("names_are_paths", how.names_are_paths);
    url.read_one_of("form", how.form,
                    {{"curator", node_form::curator}, {"kazoo", node_form::kazoo}});
    url.read_one_of("acl", how.acl, {{"open", node_acl::open}, {"creator", node_acl::creator}});
    url.read_tls(how.tls);
    url.refuse_unknown();
    return how;
}

} // namespace holdfast::url
