// SPDX-License-Identifier: Apache-2.0
#include "store/redis/check_options.hpp"

#include "net/failure.hpp"
#include "net/tls_context.hpp"
#include "redis/mutants.hpp"

#include <holdfast/error.hpp>

#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/un.h>

namespace holdfast::redis {
namespace {

void require(bool holds, std::string_view why_not) {
    if (!holds)
        throw boost::system::system_error{make_error_code(errc::invalid_argument),
                                          "redis::options: " + std::string{why_not}};
}

/// Timers count milliseconds on 64 bits; nobody waits for a server for longer than this.
constexpr duration time_longest = std::chrono::hours{24};

/// Each question costs the nodes of a cluster something.
constexpr duration topology_check_least{100};

/// What is beyond these is a slip of the pen: a server has ten thousand connections for all.
constexpr std::size_t lanes_most = 1000;
constexpr std::chrono::microseconds polling_longest = std::chrono::milliseconds{10};

void check_socket(const options& how) {
    require(how.unix_socket.find('\0') == std::string::npos, "unix_socket contains a NUL byte");
    require(how.unix_socket.size() < sizeof(sockaddr_un::sun_path),
            "unix_socket is longer than the 107 bytes that the system allows");
}

constexpr std::size_t addresses_most = 64;

void check_host(const std::string& host, const std::string& field) {
    require(!host.empty(), field + " is empty");
    require(host.find('\0') == std::string::npos, field + " contains a NUL byte");
}

void check_addresses(std::vector<server_address> all, std::uint16_t usual_port,
                     const std::string& field) {
    require(!all.empty() && all.size() <= addresses_most,
            field + " has " + std::to_string(all.size()) + " entries; allowed are 1 to 64");
    for (auto one = all.begin(); one != all.end(); ++one) {
        check_host(one->host, field + ": a host");
        if (one->port == 0)
            one->port = usual_port;
        const auto first = std::find(all.begin(), one, *one);
        require(first == one, field + " has the same server twice, as number " +
                                  std::to_string(first - all.begin() + 1) + " and " +
                                  std::to_string(one - all.begin() + 1));
    }
}

/// What a certificate or a hello can carry at all.
constexpr std::size_t server_name_bytes_max = 253;

void check_tls(const tls_options& tls, const std::string& field, const std::string& host) {
    require(tls.certificate_file.empty() == tls.key_file.empty(),
            field + ".certificate_file and " + field +
                ".key_file belong together, and one is missing");
    const std::string& name = tls.server_name.empty() ? host : tls.server_name;
    require(name.size() <= server_name_bytes_max, "the server's name is longer than any can be");
    require(name.find('\0') == std::string::npos, field + ".server_name contains a NUL byte");
    try {
        net::check_files(tls);
    } catch (const net::failure& why) {
        require(false, why.text());
    }
}

void check_sentinels(const sentinel_options& them) {
    require(!them.service.empty(), "sentinel.service is empty");
    check_addresses(them.addresses, 26379, "sentinel.addresses");
    if (them.tls)
        check_tls(*them.tls, "sentinel.tls", {});
}

void check_cluster(const options& how) {
    check_addresses(how.cluster->addresses, 6379, "cluster.addresses");
    require(how.database == 0,
            "database is " + std::to_string(how.database) + "; a cluster has database 0 alone");
}

void check_place(const options& how) {
    require(!how.sentinel || !how.cluster, "sentinel and cluster are both given");
    const bool is_one = !how.sentinel && !how.cluster;
    require(is_one || how.unix_socket.empty(),
            "unix_socket is given, and Sentinels and clusters are reached by TCP");
    if (how.sentinel)
        check_sentinels(*how.sentinel);
    if (how.cluster)
        check_cluster(how);
    if (!how.unix_socket.empty())
        check_socket(how);
    else if (is_one) {
        check_host(how.host, "host");
        require(how.port != 0, "port is 0");
    }
    require(!how.tls || how.unix_socket.empty(), "tls is for TCP, and unix_socket is given");
    if (how.tls)
        check_tls(*how.tls, "tls", is_one ? how.host : "");
}

/// One way of telling is what servers outside of a cluster have.
void check_pubsub(const options& how) {
    require(how.pubsub <= pubsub_form::both,
            "pubsub is none of automatic, plain, sharded and both");
    require(how.cluster || how.pubsub <= pubsub_form::plain,
            std::string{"pubsub is "} + (how.pubsub == pubsub_form::both ? "both" : "sharded") +
                "; outside of a cluster, automatic and plain are allowed");
}

void check_time(duration value, std::string_view field, duration least = duration{1}) {
    require((value >= least && value <= time_longest) || planted(mutant::times_unbounded),
            std::string{field} + " is " + std::to_string(value.count()) + " ms; allowed are " +
                std::to_string(least.count()) + " ms to 1 day");
}

/// As a renewal must not wait for replicas until it is too late for another.
duration replica_timeout_most(const options& how) {
    return std::max(duration{1}, how.command_timeout / 3);
}

void check_replica_timeout(const options& how) {
    check_time(how.replica_timeout, "replica_timeout");
    require(how.replica_timeout <= replica_timeout_most(how),
            "replica_timeout is " + std::to_string(how.replica_timeout.count()) +
                " ms; the most is a third of command_timeout, which is " +
                std::to_string(replica_timeout_most(how).count()) + " ms");
}

void check(const options& how) {
    check_place(how);
    check_pubsub(how);
    check_time(how.connect_timeout, "connect_timeout");
    check_time(how.command_timeout, "command_timeout");
    check_replica_timeout(how);
    check_time(how.address_check, "address_check", duration::zero());
    check_time(how.topology_check, "topology_check", topology_check_least);
    check_time(how.backoff_min, "backoff_min");
    check_time(how.backoff_max, "backoff_max");
    require(how.backoff_min <= how.backoff_max, "backoff_min is longer than backoff_max");
    check_time(how.subscription_linger, "subscription_linger", duration::zero());
    check_time(how.fair_wait, "fair_wait");
    require(how.redisson <= redisson_form::v3_17, "redisson is none of v3_13, v3_16 and v3_17");
    require(how.lanes_max <= lanes_most, "lanes_max is more than 1000");
    require(how.polling >= how.polling.zero() && how.polling <= polling_longest,
            "polling is " + std::to_string(how.polling.count()) +
                " us; allowed are 0 us to 10000 us");
    require(how.requests_max > 0, "requests_max is 0");
    require(how.reply_bytes_max > 0, "reply_bytes_max is 0");
}

} // namespace

options checked(options how) {
    if (how.replica_timeout == options{}.replica_timeout)
        how.replica_timeout = std::min(how.replica_timeout, replica_timeout_most(how));
    check(how);
    return how;
}

} // namespace holdfast::redis
