// SPDX-License-Identifier: Apache-2.0
// Findings about the set of servers, and about faults of single servers.
#include "net/address.hpp"
#include "redis/client/resp.hpp"
#include "store/redis/topology_findings.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis {
namespace {

using shape = topology_report::kind;

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
                "a cluster of " + std::to_string(all.shards.size()) + " primaries: " + members, ""};
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

std::optional<finding> finding_of(const sentinel_report& one, const std::string& service,
                                  const std::string& primary) {
    const std::string who = "the Sentinel " + one.address;
    if (!one.trouble.empty())
        return finding{severity::warning, "topology",
                       who + " does not say where the primary is: " + one.trouble,
                       "Bring it back: with fewer than a majority there is no failover."};
    if (!one.primary)
        return finding{severity::warning, "topology", who + " knows no service '" + service + "'",
                       "Let it watch over the same servers as the others."};
    const std::string named = net::address_of(*one.primary);
    if (named == primary)
        return std::nullopt;
    return finding{severity::warning, "topology",
                   who + " names " + named + " as the primary, and not " + primary,
                   "Wait until a failover is over. If it stays so: that Sentinel is cut "
                   "off from the others, or does not watch over the same servers."};
}

void judge_sentinels(const topology_report& all, std::vector<finding>& found) {
    const std::string primary = all.shards.empty() ? "" : all.shards.front().primary.address;
    for (const sentinel_report& each : all.sentinels)
        if (std::optional<finding> one = finding_of(each, all.service, primary))
            found.push_back(*std::move(one));
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
                             each->address + " names " + net::address_of(each->other_view->named) +
                                 " for " + std::to_string(each->other_view->slots) +
                                 " slots, and most others do not (the first is " +
                                 std::to_string(each->other_view->first) + ")",
                             "Wait until a failover is over. If it stays so, that node is cut off "
                             "from the others."});
}

void judge_silent(const topology_report& all, std::vector<finding>& found) {
    const auto judge = [&](const server_report& one, const char* what) {
        if (!one.trouble.empty())
            found.push_back(
                {severity::warning, "topology",
                 std::string{what} + one.address + " could not be asked: " + one.trouble,
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

} // namespace holdfast::redis
