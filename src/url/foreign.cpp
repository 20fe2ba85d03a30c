// SPDX-License-Identifier: Apache-2.0
#include "url/foreign.hpp"

#include "refusal.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::url {
namespace {

enum class topology { sentinels, cluster };

/// URL scheme of other client libraries; the comments in the table name the libraries.
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
/// Parameters that name more hosts in the URLs of other clients: go-redis, fred.
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

/// Returns host and port as text. Returns nothing if the text of the port may be a password:
/// redis-cluster://user:password has no host, so its password stands where the port would be.
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

/// Returns the URL in holdfast's form, for an error message. Placeholders replace parts that must
/// not be shown or are too long.
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

/// Throws for a URL of go-redis. For a cluster or Sentinels, go-redis writes one server with more
/// addresses as parameters.
void refuse_addresses(const parts& all) {
    const auto has = [&](std::string_view name) {
        return std::ranges::count(all.parameters, name, &parameter::name) > 0;
    };
    const bool over_tls = all.scheme == "rediss";
    if ((all.scheme == "redis" || over_tls) && has("addr"))
        refuse("url: the parameter addr is what another client writes; here it is " +
               written_here(all, has("master_name") ? topology::sentinels : topology::cluster,
                            over_tls));
}

} // namespace

void refuse_what_others_write(const parts& all) {
    const auto found =
        std::ranges::find(foreign_schemes, std::string_view{all.scheme}, &foreign_scheme::scheme);
    if (found != std::end(foreign_schemes))
        refuse("url: " + all.scheme + ":// is what another client writes; here it is " +
               written_here(all, found->what, found->over_tls));
    refuse_addresses(all);
    if (all.fragment)
        refuse("url: it has a '#' in it, and no store has fragments; elsewhere it is written %23");
}

} // namespace holdfast::url
