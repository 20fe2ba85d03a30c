// SPDX-License-Identifier: Apache-2.0
// Findings about the effects of a failover on locks.
#include "redis/topology/report.hpp"
#include "redis/client/error_replies.hpp"
#include "redis/client/resp.hpp"
#include "store/redis/topology_findings.hpp"

#include <algorithm>
#include <optional>

namespace holdfast::redis {
namespace {

using shape = topology_report::kind;
using std::chrono::microseconds;

/// Returns the longest failover that a hold survives: 65% of the lease. At the fault, a third of
/// the lease may have passed since the last renewal, and the next renewal takes some time.
constexpr duration outlasted_by(duration lease) {
    return lease / 100 * 65 + lease % 100 * 65 / 100;
}

/// Returns the clock difference that does no harm to a lease of the given length.
constexpr microseconds clocks_apart_max(duration lease) {
    return lease / 100 + duration{2};
}

/// Server setting that decides how long a failover takes. `whole` is the measured time from the
/// fault until clients find the new primary (docs/topologies.md).
struct failover_time {
    const char* setting;
    duration set;
    duration whole;
};

std::optional<failover_time> by_sentinels(const topology_report& all) {
    std::optional<duration> longest;
    for (const sentinel_report& each : all.sentinels)
        if (each.service && each.service->down_after)
            longest = std::max(longest.value_or(duration{}), *each.service->down_after);
    if (!longest)
        return std::nullopt;
    constexpr duration more{1500};
    return failover_time{"down-after-milliseconds", *longest, *longest + more};
}

std::optional<failover_time> by_cluster(const topology_report& all) {
    std::optional<duration> longest;
    for (const server_report* const each : servers_in(all))
        if (each->node_timeout)
            longest = std::max(longest.value_or(duration{}), *each->node_timeout);
    if (!longest)
        return std::nullopt;
    constexpr duration more{1200};
    return failover_time{"cluster-node-timeout", *longest, *longest + *longest / 4 + more};
}

finding not_known(const topology_report& all, duration lease) {
    const bool in_cluster = all.what == shape::cluster;
    return {severity::note, "failover",
            std::string{in_cluster ? "CONFIG GET cluster-node-timeout" : "SENTINEL MASTER"} +
                " is denied: whether a hold outlasts a failover is not known",
            std::string{"Grant "} + (in_cluster ? "+config|get" : "+sentinel|master") +
                " to the user that asks, or compare by yourself: a hold of " +
                length_in_words(lease) + " outlasts " + length_in_words(outlasted_by(lease)) + "."};
}

finding judge_time(const failover_time& takes, duration lease) {
    const duration outlasts = outlasted_by(lease);
    const std::string setting = takes.setting + std::string{" is "} + length_in_words(takes.set);
    const std::string hold =
        "a hold of " + length_in_words(lease) + " outlasts " + length_in_words(outlasts);
    const std::string whole = "a failover takes about " + length_in_words(takes.whole);
    const std::string remedy =
        std::string{"Set "} + takes.setting + " to 5000 or less, or give a longer lease_time.";
    if (takes.set > outlasts)
        return {severity::danger, "failover",
                "every hold ends in a failover: " + setting + ", and " + hold, remedy};
    if (takes.whole > outlasts)
        return {severity::warning, "failover",
                "holds may end in a failover: " + setting + ", " + whole + ", and " + hold, remedy};
    return {severity::fine, "failover", whole + " (" + setting + "), and " + hold, ""};
}

/// Numbers of online replicas. `of` is the primary with the fewest online replicas.
struct replica_count {
    const server_report* of = nullptr;
    std::size_t fewest = 0;
    std::size_t most = 0; ///< greatest number at any primary
};

replica_count count_replicas(const topology_report& all) {
    replica_count found;
    for (const shard_report& each : all.shards) {
        if (each.primary.info.empty())
            continue;
        const std::size_t online = replicas_online_in(each.primary.info);
        if (!found.of || online < found.fewest) {
            found.of = &each.primary;
            found.fewest = online;
        }
        found.most = std::max(found.most, online);
    }
    return found;
}

void judge_count(const replica_count& online, std::size_t required, std::vector<finding>& found) {
    const std::string wanted = std::to_string(required);
    const std::string there = online.of->address + " has " + std::to_string(online.fewest) +
                              " of " + wanted + " required replicas online";
    if (online.fewest < required)
        found.push_back({severity::danger, "replicas", there + ": no lock is granted or renewed",
                         "Bring the missing ones back, or require fewer."});
    else if (online.fewest == required)
        found.push_back({severity::note, "replicas",
                         there + ": if one is lost, no lock is granted or renewed until it is back",
                         "That is what was asked for. A failover loses one, too."});
    if (online.most > required)
        found.push_back({severity::warning, "replicas",
                         "more replicas are online (" + std::to_string(online.most) +
                             ") than are required (" + wanted +
                             "): one that did not confirm a lock may be promoted",
                         "Require as many as may ever be promoted, and attach no others."});
}

void judge_migration(const topology_report& all, std::vector<finding>& found) {
    for (const server_report* const each : servers_in(all))
        if (each->replicas_migrate == true)
            return found.push_back(
                {severity::warning, "replicas",
                 "replicas may migrate from one primary to another: then their number changes",
                 "Set cluster-allow-replica-migration no on all nodes."});
}

void judge_wait(const topology_report& all, std::size_t required, std::vector<finding>& found) {
    for (const shard_report& part : all.shards) {
        if (part.primary.wait_refusal.empty())
            continue;
        const bool denied = classify(part.primary.wait_refusal) == store_errc::no_permission;
        return found.push_back(
            {required > 0 ? severity::danger : severity::note, "replicas",
             "WAIT is refused at " + part.primary.address + " (" + part.primary.wait_refusal +
                 "): " +
                 (required > 0 ? "no lock is granted" : "required_replicas cannot be used here"),
             denied ? "Grant +wait." : ""});
    }
}

/// Returns a lower bound of the difference between two clocks. The readings prove that the clocks
/// differ by at least this much.
microseconds apart(const clock_reading& one, const clock_reading& other) {
    return std::max({microseconds::zero(), one.least - other.most, other.least - one.most});
}

} // namespace

void judge_failover(const topology_report& all, duration lease, std::vector<finding>& found) {
    if (all.what != shape::cluster && all.what != shape::sentinels)
        return;
    const auto takes = all.what == shape::cluster ? by_cluster(all) : by_sentinels(all);
    found.push_back(takes ? judge_time(*takes, lease) : not_known(all, lease));
}

void judge_replicas(const topology_report& all, std::size_t required, std::vector<finding>& found) {
    const replica_count online = count_replicas(all);
    const bool any = online.most > 0;
    if (required > 0 && online.of)
        judge_count(online, required, found);
    if (required > 0)
        judge_migration(all, found);
    else if (any)
        found.push_back({severity::note, "replicas",
                         "there are replicas, and none is required to confirm a lock: a failover "
                         "may forget the latest ones",
                         "Let the resource refuse old holders where two at once cost money, or set "
                         "required_replicas (docs/topologies.md)."});
    if (required > 0 || any)
        judge_wait(all, required, found);
}

void judge_clocks(const topology_report& all, duration lease, std::vector<finding>& found) {
    const microseconds most = clocks_apart_max(lease);
    bool compared = false;
    for (const shard_report& part : all.shards) {
        for (const server_report& each : part.replicas) {
            if (!part.primary.clock || !each.clock)
                continue;
            compared = true;
            const microseconds found_apart = apart(*part.primary.clock, *each.clock);
            if (found_apart <= most)
                continue;
            const bool ahead = each.clock->least > part.primary.clock->most;
            found.push_back({severity::warning, "clocks",
                             "the clock of the replica " + each.address + " is " +
                                 length_in_words(std::chrono::floor<duration>(found_apart)) +
                                 (ahead ? " ahead of" : " behind") + " that of its primary " +
                                 part.primary.address + ": after a failover leases end " +
                                 (ahead ? "too early, and two may hold a lock" : "too late"),
                             "Let NTP slew the clocks of all servers. They may differ by " +
                                 length_in_words(std::chrono::floor<duration>(most)) +
                                 " with this lease."});
        }
    }
    const auto is_warned = [](const finding& each) { return each.topic == "clocks"; };
    if (compared && std::ranges::none_of(found, is_warned))
        found.push_back({severity::fine, "clocks",
                         "the clocks of primaries and replicas agree within " +
                             length_in_words(std::chrono::floor<duration>(most)),
                         ""});
}

} // namespace holdfast::redis
