// SPDX-License-Identifier: Apache-2.0
// All contests (comparisons of holdfast with another program) on one server or on independent
// servers, one per line, with their goals.
#include "bench/contests.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::bench {
namespace {

/// Returns the contest with TCP on both sides, because Redisson and other libraries support only
/// TCP.
contest with_redisson(contest other) {
    other.way = transport::tcp_loopback;
    return other;
}

contest on_demand(contest other) {
    other.only_when_named = true;
    return other;
}

/// Returns a contest of many threads for one lock. Its measurements are long, because some of 64
/// threads wait for a long time.
contest crowd(std::string name, int threads, goals wanted = {}) {
    return with_redisson({.name = std::move(name),
                          .at_once = threads,
                          .ours = holdfast_gate,
                          .yardstick = redisson_gate,
                          .wanted = std::move(wanted),
                          .what = &hand_offs,
                          .slowness = 5});
}

/// Returns a contest that measures the cost of fencing tokens.
contest fenced_crowd() {
    return {.name = "fenced.gate.64",
            .at_once = 64,
            .ours = holdfast_fenced_gate,
            .yardstick = holdfast_gate,
            .wanted = {{"", {.ratio = 0.9}}},
            .what = &hand_offs_alone};
}

/// Returns a contest with a queue of processes. Its measurements take longer with more processes,
/// because each process waits for all others.
contest in_queue(std::string name, int processes) {
    return with_redisson({.name = std::move(name),
                          .at_once = processes,
                          .ours = holdfast_fair,
                          .yardstick = redisson_fair,
                          .wanted = {{"", {.ratio = 2}}, {".commands", {.value = 6}}},
                          .what = &acquisitions,
                          .slowness = 5});
}

/// Returns a contest that compares a kind of wake-up with the wake-up of a waiter for a mutex.
contest waking(std::string name, made (*ours)(const arena&)) {
    return {.name = std::move(name),
            .at_once = 2,
            .ours = ours,
            .yardstick = holdfast_wake_up,
            .wanted = {{".p50", {.ratio = 1.2}}},
            .what = &wake_ups};
}

std::vector<contest> about_counters() {
    return {
        with_redisson({.name = "semaphore.64",
                       .at_once = 64,
                       .ours = holdfast_semaphore,
                       .yardstick = redisson_semaphore,
                       .wanted = {{"", {.ratio = 8}}},
                       .what = &hand_offs,
                       .slowness = 5}),
        with_redisson({.name = "semaphore.free",
                       .at_once = 8,
                       .ours = holdfast_free_semaphore,
                       .yardstick = redisson_free_semaphore,
                       .wanted = {{"", {.ratio = 0.8}}},
                       .what = &server_time}),
        with_redisson({.name = "permits.64",
                       .at_once = 64,
                       .ours = holdfast_permits,
                       .yardstick = redisson_permits,
                       .wanted = {{"", {.ratio = 8}}},
                       .what = &hand_offs,
                       .slowness = 5}),
        with_redisson({.name = "rate.64",
                       .at_once = 64,
                       .ours = holdfast_rate,
                       .yardstick = redisson_rate,
                       .wanted = {{"", {.ratio = 0.8}}},
                       .what = &server_time}),
        waking("wake.semaphore", holdfast_wake_up_by_permit),
        waking("wake.latch", holdfast_wake_up_by_latch),
    };
}

std::vector<contest> about_free_locks() {
    return {
        {"blocking.1", 1, holdfast_threads, bare_sockets},
        {"blocking.1.poll-on", 1, holdfast_threads, bare_sockets, {{".p50", {.ratio = 0.5}}}},
        {"blocking.1.poll-off",
         1,
         holdfast_threads,
         bare_sockets,
         {{".p50", {.ratio = 1.05}}},
         "?polling=0us"},
        {"blocking.1.deferred", 1, holdfast_deferring, bare_sockets, {{".p50", {.ratio = 0.35}}}},
        {"blocking.2", 2, holdfast_threads, bare_sockets},
        {"blocking.4", 4, holdfast_threads, bare_sockets},
        {"blocking.8", 8, holdfast_threads, bare_sockets, {{"", {.ratio = 0.95}}}},
        {"blocking.16", 16, holdfast_threads, bare_sockets},
        {"blocking.32", 32, holdfast_threads, bare_sockets},
        {"blocking.64", 64, holdfast_threads, bare_sockets, {{"", {.ratio = 1.3}}}},
        {"coroutines.512", 512, holdfast_coroutines, raw_pipeline, {{"", {.ratio = 0.95}}}},
        {"set-nx.1", 1, holdfast_threads, bare_sockets_with_set_nx},
        {"set-nx.64", 64, holdfast_threads, bare_sockets_with_set_nx},

        with_redisson(
            {"redisson.1", 1, holdfast_threads, redisson_threads, {{".p50", {.ratio = 0.5}}}}),
        on_demand(with_redisson({"redisson.2", 2, holdfast_threads, redisson_threads})),
        on_demand(with_redisson({"redisson.4", 4, holdfast_threads, redisson_threads})),
        on_demand(with_redisson({"redisson.8", 8, holdfast_threads, redisson_threads})),
        on_demand(with_redisson({"redisson.16", 16, holdfast_threads, redisson_threads})),
        on_demand(with_redisson({"redisson.32", 32, holdfast_threads, redisson_threads})),
        with_redisson(
            {"redisson.64", 64, holdfast_threads, redisson_threads, {{"", {.ratio = 4}}}}),
        with_redisson(
            {"redisson.512", 512, holdfast_coroutines, redisson_async, {{"", {.ratio = 8}}}}),
        with_redisson({.name = "server-cpu",
                       .at_once = 8,
                       .ours = holdfast_threads,
                       .yardstick = redisson_threads,
                       .wanted = {{"", {.ratio = 0.5}}},
                       .what = &server_time}),
    };
}

std::vector<contest> about_one_lock() {
    return {
        on_demand(crowd("gate.2", 2)),
        on_demand(crowd("gate.4", 4)),
        on_demand(crowd("gate.8", 8)),
        on_demand(crowd("gate.16", 16)),
        on_demand(crowd("gate.32", 32)),
        crowd("gate.64", 64, {{"", {.ratio = 30, .value = 100'000}}, {".p99", {.ratio = 0.1}}}),
        {.name = "gate.64.bare",
         .at_once = 64,
         .ours = holdfast_gate,
         .yardstick = bare_hand_off,
         .what = &hand_offs_alone},
        fenced_crowd(),
        {"shared.64", 64, holdfast_readers, bare_readers, {{"", {.ratio = 20}}}},
        with_redisson({.name = "shared.mixed",
                       .at_once = 64,
                       .ours = holdfast_readers_and_writer,
                       .yardstick = redisson_readers_and_writer,
                       .wanted = {{"", {.ratio = 5}}, {".writer.p99", {.ratio = 1}}},
                       .what = &pairs_beside_a_writer,
                       .slowness = 5}),
        waking("wake.shared.reader", holdfast_wake_up_of_reader),
        waking("wake.shared.writer", holdfast_wake_up_of_writer),
        with_redisson({.name = "reentry",
                       .at_once = 1,
                       .ours = holdfast_reentry,
                       .yardstick = redisson_reentry,
                       .wanted = {{"", {.ratio = 1000}}},
                       .what = &re_entries}),
        in_queue("fair.2", 2),
        in_queue("fair.8", 8),
        in_queue("fair.32", 32),
        {.name = "run",
         .at_once = 1,
         .ours = holdfast_commands,
         .yardstick = flock_commands,
         .wanted = {{".p50", {.ratio = 2}}},
         .what = &commands,
         .way = transport::tcp_loopback},
    };
}

goals p50_at_most(double ratio) {
    return {{".p50", {.ratio = ratio}}};
}

/// Returns a contest that compares a call with a round trip to the server, or with the replies of a
/// majority of several servers.
contest in_round_trips(std::string name, made (*ours)(const arena&),
                       made (*yardstick)(const arena&), goals wanted = {}) {
    return {.name = std::move(name),
            .at_once = 1,
            .ours = ours,
            .yardstick = yardstick,
            .wanted = std::move(wanted),
            .what = &calls};
}

/// Returns a contest of lock and unlock on five servers with the quorum lock of another library.
contest of_majorities(std::string name, made (*ours)(const arena&),
                      made (*yardstick)(const arena&)) {
    return with_redisson({std::move(name), 64, ours, yardstick, {{"", {.ratio = 4}}}});
}

std::vector<contest> about_several_locks() {
    return {
        in_round_trips("multi.3", holdfast_multi, bare_round_trips, p50_at_most(3.5)),
        in_round_trips("multi.3.pair", holdfast_multi_pairs, bare_round_trips),
        in_round_trips("quorum.3", holdfast_quorum_3, bare_nodes_3, p50_at_most(1.5)),
        in_round_trips("quorum.5", holdfast_quorum_5, bare_nodes_5, p50_at_most(1.5)),
        in_round_trips("quorum.5.dead", holdfast_quorum_5_one_dead, holdfast_quorum_5,
                       p50_at_most(1.1)),
        of_majorities("quorum.64.redisson", holdfast_quorum_pairs, redisson_red_lock),
        of_majorities("quorum.64.redsync", holdfast_quorum_token_pairs, redsync_quorum),
        of_majorities("quorum.64.node-redlock", holdfast_quorum_token_pairs, node_redlock_quorum),
    };
}

} // namespace

std::vector<contest> contests() {
    std::vector<contest> all = about_free_locks();
    std::ranges::move(about_one_lock(), std::back_inserter(all));
    std::ranges::move(about_counters(), std::back_inserter(all));
    std::ranges::move(about_several_locks(), std::back_inserter(all));
    std::ranges::move(about_topologies(), std::back_inserter(all));
    std::ranges::move(about_keepers(), std::back_inserter(all));
    std::ranges::move(about_databases(), std::back_inserter(all));
    return all;
}

std::vector<standstill> standstills() {
    std::vector<standstill> all = standstills_at_keepers();
    std::ranges::move(standstills_at_databases(), std::back_inserter(all));
    return all;
}

goals standstill::within(double milliseconds) {
    const goal limit{.value = milliseconds};
    return {{".work", limit}, {".cut", limit}, {".silent", limit}, {".dead", limit}};
}

std::vector<rivalry> rivalries() {
    return {{"budget.16.holdfast", 16, rival::holdfast},
            {"budget.64.holdfast", 64, rival::holdfast},
            {"budget.16.redisson", 16, rival::redisson},
            {"budget.64.redisson", 64, rival::redisson}};
}

std::vector<vigil> vigils() {
    return {{"renewal.100k", 100'000, {{".client_cpu", {.value = 1}}, {".bytes", {.value = 500}}}}};
}

// All comparisons on replicas and clusters, and all failovers, one per line, with their goals.

namespace {

/// Returns a contest on a primary with two replicas. The numbers in `name` are the number of
/// replicas that confirm a grant, and `at_once`.
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

// All comparisons on ZooKeeper, one per line, with their goals.

namespace {

/// Returns a contest on ZooKeeper. Its measurements are long, because a write takes long, and the
/// last of 64 waiters waits for many writes.
contest at_keeper(std::string name, int at_once, goals wanted) {
    return {.name = std::move(name),
            .at_once = at_once,
            .ours = holdfast_threads,
            .yardstick = curator_threads,
            .wanted = std::move(wanted),
            .way = transport::tcp_loopback,
            .slowness = 5,
            .group = one_keeper};
}

} // namespace

std::vector<contest> about_keepers() {
    contest queue = at_keeper("keeper.queue.64", 64,
                              {{".p50", {.ratio = 0.75}}, {".client_cpu", {.ratio = 0.25}}});
    queue.ours = holdfast_queue;
    queue.yardstick = curator_queue;
    queue.what = &hand_offs;
    return {at_keeper("keeper.1", 1, {{"", {.ratio = 1.3}}}),
            at_keeper("keeper.8", 8, {{"", {.ratio = 1.5}}}),
            at_keeper("keeper.64", 64, {{"", {.ratio = 2}}, {".client_cpu", {.ratio = 0.25}}}),
            queue};
}

std::vector<standstill> standstills_at_keepers() {
    return {{"keeper.executor", troubled_keeper, standstill::within(10)}};
}

} // namespace holdfast::bench
