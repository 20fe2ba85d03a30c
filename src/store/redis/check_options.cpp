// SPDX-License-Identifier: Apache-2.0
#include "store/redis/check_options.hpp"

#include "net/option_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {
namespace {

constexpr net::option_checks check{"redis::options"};

/// Smallest time between two checks of the topology. Each check costs the nodes of a cluster some
/// work.
constexpr duration topology_check_least{100};

/// Upper bounds. Greater values are typing errors: by default, a server allows ten thousand
/// connections in all.
constexpr std::size_t lanes_most = 1000;
constexpr std::chrono::microseconds polling_longest = std::chrono::milliseconds{10};

void check_addresses(const std::vector<server_address>& all, std::uint16_t usual_port,
                     const std::string& field) {
    if (const auto twice = check.servers(all, usual_port, field))
        check.require(false, field + " has the same server twice, as " + twice->numbers());
}

void check_tls(const tls_options& tls, const std::string& field, const std::string& host) {
    check.certificate(tls, field);
    const std::string& name = tls.server_name.empty() ? host : tls.server_name;
    check.require(name.size() <= net::server_name_bytes_max,
                  "the server's name is longer than any can be");
    check.no_nul(name, field + ".server_name");
    check.files(tls);
}

void check_sentinels(const sentinel_options& them) {
    check.require(!them.service.empty(), "sentinel.service is empty");
    check_addresses(them.addresses, 26379, "sentinel.addresses");
    if (them.tls)
        check_tls(*them.tls, "sentinel.tls", {});
}

void check_cluster(const options& how) {
    check_addresses(how.cluster->addresses, 6379, "cluster.addresses");
    check.require(how.database == 0, "database is " + std::to_string(how.database) +
                                         "; a cluster has database 0 alone");
}

void check_place(const options& how) {
    check.require(!how.sentinel || !how.cluster, "sentinel and cluster are both given");
    const bool is_one = !how.sentinel && !how.cluster;
    check.require(is_one || how.unix_socket.empty(),
                  "unix_socket is given, and Sentinels and clusters are reached by TCP");
    if (how.sentinel)
        check_sentinels(*how.sentinel);
    if (how.cluster)
        check_cluster(how);
    if (!how.unix_socket.empty())
        check.unix_socket(how.unix_socket);
    else if (is_one) {
        check.host(how.host, "host");
        check.require(how.port != 0, "port is 0");
    }
    check.require(!how.tls || how.unix_socket.empty(), "tls is for TCP, and unix_socket is given");
    if (how.tls)
        check_tls(*how.tls, "tls", is_one ? how.host : "");
}

/// Checks `pubsub`. Only a cluster has sharded messages.
void check_pubsub(const options& how) {
    check.require(how.pubsub <= pubsub_form::both,
                  "pubsub is none of automatic, plain, sharded and both");
    check.require(how.cluster || how.pubsub <= pubsub_form::plain,
                  std::string{"pubsub is "} +
                      (how.pubsub == pubsub_form::both ? "both" : "sharded") +
                      "; outside of a cluster, automatic and plain are allowed");
}

void check_time(duration value, std::string_view field, duration least = duration{1}) {
    check.time(value, field, least);
}

/// Returns the longest allowed replica_timeout. A renewal that waits for replicas must leave time
/// for another attempt.
duration replica_timeout_most(const options& how) {
    return std::max(duration{1}, how.command_timeout / 3);
}

void check_replica_timeout(const options& how) {
    check_time(how.replica_timeout, "replica_timeout");
    check.require(how.replica_timeout <= replica_timeout_most(how),
                  "replica_timeout is " + std::to_string(how.replica_timeout.count()) +
                      " ms; the most is a third of command_timeout, which is " +
                      std::to_string(replica_timeout_most(how).count()) + " ms");
}

} // namespace

options checked(options how) {
    if (how.replica_timeout == options{}.replica_timeout)
        how.replica_timeout = std::min(how.replica_timeout, replica_timeout_most(how));
    check_place(how);
    check_pubsub(how);
    check_time(how.connect_timeout, "connect_timeout");
    check_time(how.command_timeout, "command_timeout");
    check_replica_timeout(how);
    check_time(how.address_check, "address_check", duration::zero());
    check_time(how.topology_check, "topology_check", topology_check_least);
    check.backoff(how.backoff_min, how.backoff_max);
    check_time(how.subscription_linger, "subscription_linger", duration::zero());
    check_time(how.fair_wait, "fair_wait");
    check.require(how.redisson <= redisson_form::v3_17,
                  "redisson is none of v3_13, v3_16 and v3_17");
    check.require(how.lanes_max <= lanes_most, "lanes_max is more than 1000");
    check.require(how.polling >= how.polling.zero() && how.polling <= polling_longest,
                  "polling is " + std::to_string(how.polling.count()) +
                      " us; allowed are 0 us to 10000 us");
    check.require(how.requests_max > 0, "requests_max is 0");
    check.require(how.reply_bytes_max > 0, "reply_bytes_max is 0");
    return how;
}

} // namespace holdfast::redis
