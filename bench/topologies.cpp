// SPDX-License-Identifier: Apache-2.0
// All contests and goals with replicas, clusters and failovers. There is one contest per line.
#include "bench/contests.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::bench {
namespace {

/// Returns a contest on a primary with two replicas. The numbers in `name` are the number of
/// confirming replicas and `at_once`.
contest confirmed(std::string name, int at_once, std::string query, made (*ours)(const arena&),
                  made (*yardstick)(const arena&)) {
    return {.name = std::move(name),
            .at_once = at_once,
            .ours = ours,
            .yardstick = yardstick,
            .wanted = {{"", {.ratio = 0.95}}},
            .query = std::move(query),
            .way = transport::tcp_loopback,
            .group = two_replicas};
}

std::vector<contest> about_replicas() {
    const std::string one = "?required_replicas=1", two = "?required_replicas=2";
    std::vector<contest> all;
    for (const int threads : {1, 8, 64}) {
        const std::string many = "." + std::to_string(threads);
        all.push_back(confirmed("replicas.0" + many, threads, {}, holdfast_threads, bare_sockets));
        all.push_back(confirmed("replicas.1" + many, threads, one, holdfast_threads,
                                bare_sockets_confirmed_by_one));
        all.push_back(confirmed("replicas.2" + many, threads, two, holdfast_threads,
                                bare_sockets_confirmed_by_two));
    }
    all.push_back(confirmed("replicas.0.512", 512, {}, holdfast_coroutines, raw_pipeline));
    all.push_back(
        confirmed("replicas.1.512", 512, one, holdfast_coroutines, raw_pipeline_confirmed_by_one));
    all.push_back(
        confirmed("replicas.2.512", 512, two, holdfast_coroutines, raw_pipeline_confirmed_by_two));
    all.push_back({.name = "replicas.round-trip",
                   .at_once = 1,
                   .ours = holdfast_confirmation,
                   .yardstick = bare_confirmation,
                   .wanted = {{".p50", {.ratio = 1.1}}},
                   .what = &confirmations,
                   .way = transport::tcp_loopback,
                   .group = two_replicas});
    for (const int threads : {1, 64}) {
        contest peer = confirmed("replicas.redisson." + std::to_string(threads), threads, two,
                                 holdfast_threads, redisson_confirmed);
        peer.wanted.clear();
        all.push_back(std::move(peer));
    }
    return all;
}

/// Number of pending requests on a cluster.
constexpr int in_flight_at_cluster = 96;

contest at_cluster(std::string name, site (*group)(server_groups&), made (*ours)(const arena&),
                   made (*yardstick)(const arena&)) {
    return {.name = std::move(name),
            .at_once = in_flight_at_cluster,
            .ours = ours,
            .yardstick = yardstick,
            .way = transport::tcp_loopback,
            .group = group};
}

std::vector<contest> about_clusters() {
    std::vector<contest> all;
    all.push_back(at_cluster("cluster.1", one_primary, holdfast_coroutines, raw_slots));
    all.push_back(at_cluster("cluster.3", three_primaries, holdfast_coroutines, raw_slots));
    for (contest& each : all)
        each.wanted = {{"", {.ratio = 0.95}}};

    contest router = at_cluster("cluster.router", one_primary, holdfast_coroutines,
                                holdfast_coroutines_at_one_node);
    router.what = &added_to_calls;
    router.wanted = {{"", {.value = 0.3}}};
    all.push_back(std::move(router));

    for (const std::string form : {"plain", "both"}) {
        contest telling = at_cluster("telling." + form, three_primaries_with_replicas,
                                     holdfast_coroutines, holdfast_coroutines_telling_shards);
        telling.query = "?pubsub=" + form;
        telling.what = &server_time;
        all.push_back(std::move(telling));
    }
    return all;
}

} // namespace

std::vector<contest> about_topologies() {
    std::vector<contest> all = about_replicas();
    std::ranges::move(about_clusters(), std::back_inserter(all));
    return all;
}

std::vector<failover> failovers() {
    const auto within = [](double seconds) {
        return goals{{".free", {.value = seconds}}, {".waiter", {.value = seconds}}};
    };
    const goals of_cluster = within(0.3), of_sentinels = within(1.3);
    return {{"failover.cluster.kill", cluster_realm, fault::kill, of_cluster},
            {"failover.cluster.stop", cluster_realm, fault::stop, of_cluster},
            {"failover.cluster.order", cluster_realm, fault::order, of_cluster},
            {"failover.sentinel.kill", sentinel_realm, fault::kill, of_sentinels},
            {"failover.sentinel.stop", sentinel_realm, fault::stop, of_sentinels},
            {"failover.sentinel.order", sentinel_realm, fault::order, of_sentinels}};
}

std::vector<shared_vigil> shared_vigils() {
    return {{"renewal.100k.3",
             100'000,
             {{".client_cpu", {.ratio = 1.5, .value = 1}}, {".server_cpu", {.ratio = 1.5}}},
             three_primaries}};
}

} // namespace holdfast::bench
