// SPDX-License-Identifier: Apache-2.0
#include "url/schemes.hpp"

#include "refusal.hpp"
#include "url/server.hpp"
#include "url/zookeeper.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace holdfast {
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

/// Scheme of the core library. `followed_by` is the text after its name in the list of an error
/// message. Empty: the scheme is not in the list.
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

/// Schemes that a component of holdfast adds, if the program uses the component.
constexpr std::string_view scheme_of_testing = "memory";
constexpr std::string_view schemes_of_mysql[] = {"mysql", "mariadb", "mysql+unix", "mariadb+unix"};

template <typename Schemes, typename Projection = std::identity>
bool has(const Schemes& schemes, std::string_view name, Projection projection = {}) {
    return std::ranges::find(schemes, name, projection) != std::end(schemes);
}

/// Schemes that the program has added. The object is never destroyed, because other static objects
/// may still create clients.
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
               ":// is of the component holdfast::mysql (package libholdfast-mysql-dev); link it, "
               "and call holdfast::mysql::add_schemes() before the first client is made");
    if (all.scheme == scheme_of_testing)
        refuse("url: memory: is of the component holdfast::testing (package "
               "libholdfast-testing-dev); link it with the programs that use such URLs");
    refuse("url: there is no scheme " + in_quotes(all.scheme) + "; " + allowed_schemes() +
           " are allowed");
}

} // namespace url

void add_store_scheme(std::string scheme, scheme_reader reader) {
    if (url::scheme_of(scheme) != scheme || scheme.empty())
        refuse(
            "a scheme of URLs has small letters, digits, '+', '-' and '.', the first a letter; " +
            in_quotes(scheme) + " has not");
    if (url::has(url::own_schemes, scheme, &url::own_scheme::name))
        refuse("the scheme " + scheme + " is one that holdfast itself reads; choose another name");
    if (!reader)
        refuse("the scheme " + scheme + " has an empty reader");
    const std::scoped_lock guard{url::added().mutex};
    if (scheme == url::scheme_of_testing && url::added().readers.contains(scheme))
        refuse("the scheme memory is one that holdfast itself reads; choose another name");
    url::added().readers.insert_or_assign(std::move(scheme), std::move(reader));
}

} // namespace holdfast
