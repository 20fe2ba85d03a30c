// SPDX-License-Identifier: Apache-2.0
#include "bench/server/server_groups.hpp"

#include "bench/contenders/redisson.hpp"
#include "bench/server/cpu.hpp"
#include "bench/server/keeper_books.hpp"
#include "bench/server/server.hpp"

#include <chrono>

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

support::server_binary binary() {
    return {"bench", server_program()};
}

std::string local(std::uint16_t port) {
    return "127.0.0.1:" + std::to_string(port);
}

std::string joined(const std::vector<std::string>& words, const char* between = ",") {
    std::string all;
    for (const std::string& each : words)
        all += (all.empty() ? "" : between) + each;
    return all;
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

support::zookeeper_server& server_groups::keeper() {
    if (!keeper_)
        keeper_ = std::make_unique<support::zookeeper_server>();
    return *keeper_;
}

double server_groups::cpu_seconds() {
    double sum = 0;
    if (replicas_)
        sum += cpu_seconds_in(replicas_->servers());
    for (const auto& [size, nodes] : clusters_)
        sum += cpu_seconds_in(nodes->servers());
    if (sentinels_)
        sum += cpu_seconds_in(sentinels_->servers().servers());
    if (keeper_)
        sum += cpu_seconds_of(keeper_->pid());
    for (const auto& each : lone_)
        sum += each->cpu_seconds();
    return sum;
}

std::string server_groups::versions() {
    std::vector<std::string> all;
    if (keeper_) {
        const std::string said = keeper_->say("srvr"); // for example "Zookeeper version: 3.8.0-…"
        all.push_back(said.substr(0, said.find('-')));
    }
    for (const auto& each : lone_)
        all.push_back(each->version());
    return joined(all, ", ");
}

std::vector<std::string> addresses_of(support::redis_cluster& nodes) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        all.push_back(local(nodes.port_of(nodes.node(i))));
    return all;
}

std::vector<std::string> addresses_of(support::redis_sentinels& watchers) {
    const redis::options how = watchers.client_options();
    std::vector<std::string> all;
    for (const redis::server_address& each : how.sentinel.value().addresses)
        all.push_back(local(each.port));
    return all;
}

std::string url_of(support::redis_cluster& nodes) {
    return "redis+cluster://" + joined(addresses_of(nodes));
}

std::string url_of(support::redis_sentinels& watchers) {
    return "redis+sentinel://" + joined(addresses_of(watchers)) + "/" +
           support::redis_sentinels::service;
}

site two_replicas(server_groups& all) {
    support::redis_replicas& servers = all.replicas();
    site made{.url = "redis://" + local(servers.port_of(0)), .ports = {}};
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

site one_keeper(server_groups& all) try {
    const support::zookeeper_server& server = all.keeper();
    return {.url = server.url(), .ports = {server.port()}, .books = [&server] {
                return std::make_unique<keeper_books>(server);
            }};
} catch (const support::server_unavailable& missing) {
    throw not_here{missing.what()};
}

} // namespace holdfast::bench
