// SPDX-License-Identifier: Apache-2.0
#include "bench/server/server_groups.hpp"

#include "bench/contenders/other_programs.hpp"
#include "bench/server/cpu_time.hpp"
#include "redis/topology/slot_map.hpp"

#include <chrono>
#include <stdexcept>

namespace holdfast::bench {

void keeper_books::clear() {
    (void)server_.say("srst");
    transactions_before_ = transactions();
}

std::string keeper_books::trouble_with(const claim& writes) const {
    const long long counted = transactions() - transactions_before_;
    if (counted < writes.least) // there may be more writes, for heartbeats and new sessions
        return "the server wrote " + std::to_string(counted) + " times, and not " +
               std::to_string(writes.least);
    if (const long long left = figure("ephemerals_count"); left > 0)
        return std::to_string(left) + " nodes are left on the server";
    return {};
}

long long keeper_books::commands_sent() const {
    return figure("packets_received");
}

double keeper_books::cpu_seconds() const {
    return cpu_seconds_of(server_.pid());
}

/// Returns the number of the last transaction. The server reports it in a line such as "Zxid:
/// 0x1f".
long long keeper_books::transactions() const {
    constexpr std::string_view before = "Zxid: ";
    const std::string said = server_.say("srvr");
    const std::size_t found = said.find(before);
    if (found == said.npos)
        throw std::runtime_error{"the ZooKeeper server does not tell its last transaction"};
    return std::stoll(said.substr(found + before.size()), nullptr, 16);
}

long long keeper_books::figure(const std::string& name) const {
    return std::stoll(server_.figures().at(name));
}

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

namespace {

std::string as_redisson_has_it(std::string what, const std::vector<std::string>& addresses) {
    for (const std::string& each : addresses)
        what += " redis://" + each;
    return what;
}

/// Cluster of three primaries, each with one replica. The primary of slot 0 fails.
class cluster final : public realm {
public:
    explicit cluster(support::redis_cluster& nodes)
        : nodes_{nodes} {}

    std::string url() const override { return url_of(nodes_); }

    std::string words_for_redisson() const override {
        return as_redisson_has_it("cluster", addresses_of(nodes_));
    }

    void restore() override { nodes_.restore(); }
    support::redis_server& primary() override { return nodes_.primary_of(0); }
    std::vector<support::redis_server*> replicas() override {
        return {&nodes_.replica_of(primary())};
    }

    /// Returns whether the first primary, which will fail, has the lock's slot. The first primary
    /// has the first third of the slots.
    bool is_kept_by_primary(const std::string& name) const override {
        return redis::key_slot(name) < redis::slot_count / 3;
    }
    std::string_view telling() const override { return "SPUBLISH"; }
    std::string_view counting_listeners() const override { return "SHARDNUMSUB"; }

private:
    void order() override { support::require_answer(*replicas().at(0), {"CLUSTER", "FAILOVER"}); }

    support::redis_cluster& nodes_;
};

class sentinels final : public realm {
public:
    explicit sentinels(support::redis_sentinels& watchers)
        : watchers_{watchers} {}

    std::string url() const override { return url_of(watchers_); }

    std::string words_for_redisson() const override {
        return as_redisson_has_it("sentinel", addresses_of(watchers_));
    }

    void restore() override { watchers_.restore(); }
    support::redis_server& primary() override { return watchers_.primary(); }
    std::vector<support::redis_server*> replicas() override {
        return {&watchers_.replica(0), &watchers_.replica(1)};
    }
    bool is_kept_by_primary(const std::string&) const override { return true; }
    std::string_view telling() const override { return "PUBLISH"; }
    std::string_view counting_listeners() const override { return "NUMSUB"; }

private:
    void order() override {
        support::require_answer(watchers_.sentinel(0), {"SENTINEL", "FAILOVER", watchers_.service});
    }

    support::redis_sentinels& watchers_;
};

} // namespace

void realm::fail(fault how) {
    if (how == fault::order)
        order();
    else if (how == fault::stop)
        primary().pause();
    else
        primary().stop();
}

std::unique_ptr<realm> cluster_realm(server_groups& all) {
    return std::make_unique<cluster>(all.cluster(3, 1));
}

std::unique_ptr<realm> sentinel_realm(server_groups& all) {
    return std::make_unique<sentinels>(all.sentinels());
}

namespace {

using support::zookeeper_server;

class keeper final : public troubled<zookeeper_server> {
public:
    keeper()
        : troubled{&zookeeper_server::tls_port, support::zookeeper(),
                   zookeeper_server::options{.tls = true}} {}

    std::string url() const override { return "zk://" + address() + settings_of_tls(); }
};

} // namespace

std::unique_ptr<troubled_server> troubled_keeper() try {
    return std::make_unique<keeper>();
} catch (const support::server_unavailable& missing) {
    throw not_here{missing.what()};
}

} // namespace holdfast::bench
