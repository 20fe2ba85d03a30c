// SPDX-License-Identifier: Apache-2.0
#include "store/redis/topology_findings.hpp"

#include "net/address.hpp"
#include "redis/node.hpp"
#include "redis/wire/info.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

using shape = topology_report::kind;

std::string address_in_words(const server_address& where) {
    return net::address_of({}, where.host, where.port);
}

std::string shard_in_words(const shard_report& part) {
    std::vector<std::string> replicas;
    for (const server_report& each : part.replicas)
        replicas.push_back(each.address);
    if (replicas.empty())
        return part.primary.address;
    return part.primary.address + " (replicas: " + listed(replicas) + ")";
}

finding shape_of(const topology_report& all) {
    std::vector<std::string> shards;
    for (const shard_report& each : all.shards)
        shards.push_back(shard_in_words(each));
    const std::string members = listed(shards);
    switch (all.what) {
    case shape::sentinels:
        return {severity::fine, "topology",
                "the Sentinels of '" + all.service + "' name " + members, ""};
    case shape::cluster:
        return {severity::fine, "topology",
                "a cluster of " + std::to_string(all.shards.size()) + " primaries: " + members,
                ""};
    case shape::single:
    case shape::unknown:
        break;
    }
    if (info_field(all.shards.front().primary.info, "role") == "slave")
        return {severity::danger, "topology", "it is a replica, which grants no locks",
                "Use the address of the primary."};
    const bool alone = all.shards.front().replicas.empty();
    return {severity::fine, "topology",
            alone ? "it is a primary without replicas" : "it is a primary: " + members, ""};
}

void judge_sentinels(const topology_report& all, std::vector<finding>& found) {
    const std::string primary = all.shards.empty() ? "" : all.shards.front().primary.address;
    for (const sentinel_report& each : all.sentinels) {
        const std::string who = "the Sentinel " + each.address;
        if (!each.trouble.empty())
            found.push_back({severity::warning, "topology",
                             who + " does not say where the primary is: " + each.trouble,
                             "Bring it back: with fewer than a majority there is no failover."});
        else if (!each.primary)
            found.push_back({severity::warning, "topology",
                             who + " knows no service '" + all.service + "'",
                             "Let it watch over the same servers as the others."});
        else if (address_in_words(*each.primary) != primary)
            found.push_back({severity::warning, "topology",
                             who + " names " + address_in_words(*each.primary) +
                                 " as the primary, and not " + primary,
                             "Wait until a failover is over. If it stays so: that Sentinel is cut "
                             "off from the others, or does not watch over the same servers."});
    }
}

void judge_slots(const topology_report& all, std::vector<finding>& found) {
    if (all.unserved_slots > 0)
        found.push_back({severity::warning, "topology",
                         std::to_string(all.unserved_slots) +
                             " of 16384 slots have no server: names that belong there cannot be "
                             "locked",
                         "CLUSTER NODES shows which node is missing."});
    for (const shard_report& each : all.shards) {
        const server_report& primary = each.primary;
        if (each.replicas.empty())
            found.push_back({severity::warning, "topology",
                             primary.address + " has no replica: while it is down, nobody can lock "
                                               "the names that it has",
                             "Give it one: CLUSTER REPLICATE."});
        if (primary.open && primary.open->count > 0)
            found.push_back({severity::danger, "topology",
                             "slots are open at " + primary.address + ": " +
                                 std::to_string(primary.open->count) + ", the first is " +
                                 std::to_string(primary.open->first) +
                                 "; locks there that have several keys stand still (TRYAGAIN)",
                             "Let the resharding come to its end, or: redis-cli --cluster fix."});
        else if (!primary.open && primary.trouble.empty())
            found.push_back({severity::note, "topology",
                             "CLUSTER NODES is denied at " + primary.address +
                                 ": whether slots are open there was not looked at",
                             "Grant +cluster|nodes to the user that asks."});
    }
    for (const server_report* const each : servers_in(all))
        if (each->other_view)
            found.push_back({severity::warning, "topology",
                             each->address + " names " + address_in_words(each->other_view->named) +
                                 " for " + std::to_string(each->other_view->slots) +
                                 " slots, and most others do not (the first is " +
                                 std::to_string(each->other_view->first) + ")",
                             "Wait until a failover is over. If it stays so, that node is cut off "
                             "from the others."});
}

void judge_silent(const topology_report& all, std::vector<finding>& found) {
    const auto judge = [&](const server_report& one, const char* what) {
        if (!one.trouble.empty())
            found.push_back({severity::warning, "topology",
                             std::string{what} + one.address +
                                 " could not be asked: " + one.trouble,
                             "Its clock and its settings were not looked at. Ask from a machine "
                             "that reaches it, by a user that it knows."});
    };
    for (const shard_report& part : all.shards) {
        judge(part.primary, "the primary ");
        for (const server_report& each : part.replicas)
            judge(each, "the replica ");
    }
}

} // namespace

std::string listed(const std::vector<std::string>& all) {
    constexpr std::size_t most = 12;
    std::string words;
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
        words += (i > 0 ? ", " : "") + all[i];
    if (all.size() > most)
        words += " and " + std::to_string(all.size() - most) + " more";
    return words;
}

std::string length_in_words(duration length) {
    constexpr duration second = std::chrono::seconds{1};
    if (length < second)
        return std::to_string(length.count()) + " ms";
    const auto tenths = length.count() / 100;
    return std::to_string(tenths / 10) +
           (tenths % 10 > 0 ? "." + std::to_string(tenths % 10) : "") + " s";
}

std::vector<const server_report*> servers_in(const topology_report& all) {
    std::vector<const server_report*> found;
    const auto add = [&](const server_report& one) {
        if (one.trouble.empty())
            found.push_back(&one);
    };
    for (const shard_report& part : all.shards) {
        add(part.primary);
        for (const server_report& each : part.replicas)
            add(each);
    }
    return found;
}

void judge_members(const topology_report& all, std::vector<finding>& found) {
    const bool is_known = all.what != shape::single || !all.shards.front().primary.info.empty();
    if (is_known)
        found.push_back(shape_of(all));
    judge_silent(all, found);
    if (all.what == shape::sentinels)
        judge_sentinels(all, found);
    if (all.what == shape::cluster)
        judge_slots(all, found);
}

/// Behind one address there may be several servers, and they may know nothing of each other.
void judge_reach(const topology_report& all, std::string_view met_info,
                 std::vector<finding>& found) {
    if (all.shards.empty() || all.what == shape::cluster)
        return;
    const server_report& met = all.shards.front().primary;
    if (all.what == shape::single && info_field(met.info, "cluster_enabled") == "1")
        found.push_back({severity::danger, "reach",
                         "it is a node of a cluster: only names of its own slots can be locked",
                         std::string{"Use "} + (all.over_tls ? "rediss" : "redis") +
                             "+cluster://" + met.address});
    const std::string_view one = info_field(met_info, "run_id"),
                           other = info_field(met.info, "run_id");
    const bool is_another = !one.empty() && !other.empty() && one != other;
    if (met.clock_jumps || is_another)
        found.push_back({severity::note, "reach",
                         is_another ? "two connections lead to different servers"
                                    : "its clock jumps from one answer to the next",
                         "A proxy may stand before several servers. What holds for their locks is "
                         "what holds for them (docs/topologies.md)."});
}

/// Whoever listens in a form in which nothing is told waits until the lease that it saw is over.
void judge_listeners(const topology_report& all, std::vector<finding>& found) {
    if (all.what != shape::cluster)
        return;
    std::vector<std::string> others, denied;
    for (const server_report* const each : servers_in(all)) {
        const std::optional<bool>& other =
            all.form == telling::plain ? each->shard_listeners : each->plain_listeners;
        if (!other)
            denied.push_back(each->address);
        else if (*other && all.form != telling::both)
            others.push_back(each->address);
    }
    const bool is_plain = all.form == telling::plain;
    found.push_back({severity::fine, "listening",
                     is_plain ? "releases are told as plain messages (PUBLISH)"
                     : all.form == telling::both
                         ? "releases are told as plain and as sharded messages"
                         : "releases are told as sharded messages (SPUBLISH)",
                     ""});
    if (!others.empty())
        found.push_back(
            {severity::warning, "listening",
             std::string{"somebody listens for "} + (is_plain ? "sharded" : "plain") +
                 " messages at " + listed(others) + ": nobody tells them of our releases",
             is_plain ? "JVMs with Redisson 3.22 and later do: set pubsub=both."
                      : "Peers older than Redisson 3.22 do: set pubsub=both."});
    if (!denied.empty() && all.form != telling::both)
        found.push_back({severity::note, "listening",
                         "PUBSUB is denied at " + listed(denied) +
                             ": whether others listen in another form was not looked at",
                         "Grant +pubsub|channels +pubsub|shardchannels to the user that asks."});
}

std::vector<finding> judge_topology(const topology_report& all, const lock_needs& needs,
                                    std::string_view met_info) {
    std::vector<finding> found;
    judge_reach(all, met_info, found);
    judge_members(all, found);
    judge_failover(all, needs.lease, found);
    judge_replicas(all, needs.replicas, found);
    judge_clocks(all, needs.lease, found);
    judge_each(all, found);
    judge_listeners(all, found);
    return found;
}

} // namespace holdfast::redis
