// SPDX-License-Identifier: Apache-2.0
#include "bench/server/server_groups.hpp"

#include "bench/server/cpu.hpp"
#include "bench/server/server.hpp"

#include <chrono>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

support::server_binary binary() {
    return {"bench", server_program()};
}

std::string host(std::uint16_t port) {
    return "127.0.0.1:" + std::to_string(port);
}

double cpu_seconds_in(support::server_group& servers) {
    double sum = 0;
    for (const support::redis_server* each : servers.all())
        sum += cpu_seconds_of(each->pid());
    return sum;
}

site site_of(support::redis_cluster& nodes, std::size_t primaries) {
    site made{.url = url_of(nodes), .ports = {}, .primaries = primaries};
    for (std::size_t i = 0; i < nodes.size(); ++i)
        made.ports.push_back(nodes.port_of(nodes.node(i)));
    return made;
}

} // namespace

support::redis_replicas& server_groups::replicas() {
    if (!replicas_)
        replicas_ = std::make_unique<support::redis_replicas>(
            binary(), support::redis_replicas::options{.replicas = 2});
    return *replicas_;
}

support::redis_cluster& server_groups::cluster(std::size_t primaries, std::size_t replicas_each) {
    auto& found = clusters_[{primaries, replicas_each}];
    if (!found)
        found = std::make_unique<support::redis_cluster>(
            binary(), support::redis_cluster::options{
                          .primaries = primaries, .replicas = replicas_each, .node_timeout = 2s});
    return *found;
}

support::redis_sentinels& server_groups::sentinels() {
    if (!sentinels_)
        sentinels_ = std::make_unique<support::redis_sentinels>(
            binary(), support::redis_sentinels::options{.down_after = 1s});
    return *sentinels_;
}

double server_groups::cpu_seconds() {
    double sum = 0;
    if (replicas_)
        sum += cpu_seconds_in(replicas_->servers());
    for (const auto& [size, nodes] : clusters_)
        sum += cpu_seconds_in(nodes->servers());
    if (sentinels_)
        sum += cpu_seconds_in(sentinels_->servers().servers());
    return sum;
}

std::string url_of(support::redis_cluster& nodes) {
    std::string hosts;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        hosts += (hosts.empty() ? "" : ",") + host(nodes.port_of(nodes.node(i)));
    return "redis+cluster://" + hosts;
}

std::string url_of(support::redis_sentinels& watchers) {
    std::string hosts;
    for (const redis::server_address& each : watchers.client_options().sentinel.value().addresses)
        hosts += (hosts.empty() ? "" : ",") + host(each.port);
    return "redis+sentinel://" + hosts + "/" + support::redis_sentinels::service;
}

site two_replicas(server_groups& all) {
    support::redis_replicas& servers = all.replicas();
    site made{.url = "redis://" + host(servers.port_of(0)), .ports = {}};
    for (std::size_t i = 0; i < servers.size(); ++i)
        made.ports.push_back(servers.port_of(i));
    return made;
}

site one_primary(server_groups& all) {
    return site_of(all.cluster(1, 0), 1);
}

site three_primaries(server_groups& all) {
    return site_of(all.cluster(3, 0), 3);
}

site three_primaries_with_replicas(server_groups& all) {
    return site_of(all.cluster(3, 1), 3);
}

} // namespace holdfast::bench
