// SPDX-License-Identifier: Apache-2.0
#include "store/redis/server_facts.hpp"
#include "store/redis/topology_findings.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

/// Finding that several servers have in common: severity, topic and remedy are the same.
struct shared_finding {
    finding first;
    std::vector<std::string> words;     ///< the words of the finding at each server, in order
    std::vector<std::string> addresses; ///< the servers' addresses, in the same order
};

bool is_alike(const finding& one, const finding& other) {
    return one.how_bad == other.how_bad && one.topic == other.topic && one.remedy == other.remedy;
}

finding said_once(shared_finding&& one, std::size_t servers) {
    if (servers == 1)
        return std::move(one.first);
    const bool same = std::ranges::all_of(
        one.words, [&](const std::string& each) { return each == one.words.front(); });
    finding whole = std::move(one.first);
    if (same && one.addresses.size() == servers) {
        whole.what +=
            servers == 2 ? " (both servers)" : " (all " + std::to_string(servers) + " servers)";
    } else if (same) {
        whole.what += " (" + listed(one.addresses) + ")";
    } else {
        whole.what += " (" + one.addresses.front() + "; ";
        one.addresses.erase(one.addresses.begin());
        whole.what += "likewise " + listed(one.addresses) + ")";
    }
    return whole;
}

void add(finding&& one, const std::string& address, std::vector<shared_finding>& to) {
    const auto like = std::ranges::find_if(
        to, [&](const shared_finding& each) { return is_alike(each.first, one); });
    shared_finding& into = like == to.end() ? to.emplace_back() : *like;
    into.words.push_back(one.what);
    into.addresses.push_back(address);
    if (into.words.size() == 1)
        into.first = std::move(one);
}

bool fails_over(const topology_report& all) {
    return all.what != topology_report::kind::single ||
           std::ranges::any_of(all.shards,
                               [](const shard_report& each) { return !each.replicas.empty(); });
}

} // namespace

void judge_each(const topology_report& all, std::vector<finding>& found) {
    std::vector<shared_finding> shared;
    const std::vector<const server_report*> servers = servers_in(all);
    for (const server_report* const each : servers) {
        if (each->info.empty())
            continue;
        const server_facts facts{each->info,
                                 {.has_replicas = fails_over(all), .fsync = each->fsync}};
        for (finding& one : facts.judge())
            add(std::move(one), each->address, shared);
    }
    std::ranges::stable_sort(shared, {}, [](const shared_finding& one) {
        constexpr std::string_view order[] = {"version", "eviction", "persistence", "clients"};
        return std::ranges::find(order, one.first.topic) - std::begin(order);
    });
    for (shared_finding& each : shared)
        found.push_back(said_once(std::move(each), servers.size()));
}

} // namespace holdfast::redis
