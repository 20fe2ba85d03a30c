// SPDX-License-Identifier: Apache-2.0
#include "store/redis/topology_findings.hpp"

#include "redis/node.hpp"
#include "redis/client/resp.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace holdfast::redis {
namespace {

using shape = topology_report::kind;

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

/// Adds findings about the way to the server. Behind one address there may be several servers that
/// do not know each other, for example behind a proxy.
void judge_reach(const topology_report& all, std::string_view met_info,
                 std::vector<finding>& found) {
    if (all.shards.empty() || all.what == shape::cluster)
        return;
    const server_report& met = all.shards.front().primary;
    if (all.what == shape::single && info_field(met.info, "cluster_enabled") == "1")
        found.push_back({severity::danger, "reach",
                         "it is a node of a cluster: only names of its own slots can be locked",
                         std::string{"Use "} + (all.over_tls ? "rediss" : "redis") + "+cluster://" +
                             met.address});
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

/// Adds findings about subscribers. Clients publish releases as plain or as sharded messages. A
/// subscriber in the wrong form gets no message. It then waits until the end of the lease that it
/// last saw.
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
        found.push_back({severity::warning, "listening",
                         std::string{"somebody listens for "} + (is_plain ? "sharded" : "plain") +
                             " messages at " + listed(others) +
                             ": nobody tells them of our releases",
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
