// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/votes.hpp"

#include "redis/cluster/slot.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace holdfast::redis {
namespace {

std::size_t length_of(const slot_range& one) {
    return one.last - one.first + std::size_t{1};
}

std::string pair_of(const std::string& id, const server_address& where) {
    return id + '@' + text_of(where);
}

bool share_any(const std::set<std::string>& one, const std::set<std::string>& other) {
    return std::ranges::any_of(one, [&](const std::string& each) { return other.contains(each); });
}

/// Group of replies from one cluster (`camp`), with all nodes that they name.
struct camp {
    std::vector<std::size_t> answers;
    std::set<std::string> names;
};

/// Adds a reply to the groups. Merges all groups that have a node in common with the reply.
void join(std::vector<camp>& all, std::size_t place, std::set<std::string> names) {
    camp joined{{place}, std::move(names)};
    for (camp& each : all) {
        if (!share_any(each.names, joined.names))
            continue;
        joined.answers.insert(joined.answers.end(), each.answers.begin(), each.answers.end());
        joined.names.merge(each.names);
        each.answers.clear();
    }
    std::erase_if(all, [](const camp& each) { return each.answers.empty(); });
    all.push_back(std::move(joined));
}

std::size_t owned_by(const cluster_members& known, const camp& one) {
    std::size_t slots = 0;
    for (const auto& [owner, count] : known.owners)
        slots += one.names.contains(owner) ? count : 0;
    return slots;
}

/// Returns a hash of the owners of all slots. The hash does not depend on the order of the ranges.
std::size_t fingerprint_of(const slot_ranges& answer) {
    std::vector<std::string> owners(slot_count);
    for (const slot_range& range : answer)
        std::fill(owners.begin() + range.first, owners.begin() + range.last + 1,
                  range.primary.host.empty() ? std::string{} : text_of(range.primary));
    std::size_t all = 0;
    for (const std::string& each : owners)
        all = all * 31 + std::hash<std::string>{}(each);
    return all;
}

} // namespace

std::string text_of(const server_address& where) {
    return where.host + ':' + std::to_string(where.port);
}

bool cluster_members::recognize(const slot_ranges& answer) const {
    std::size_t named = 0, known = 0;
    for (const slot_range& range : answer) {
        if (range.primary.host.empty())
            continue;
        const bool is_member = range.primary_id.empty() || ids.empty()
                                   ? addresses.contains(text_of(range.primary))
                                   : ids.contains(range.primary_id);
        named += length_of(range);
        known += is_member ? length_of(range) : 0;
    }
    return named > 0 && 2 * known >= named;
}

map_vote::map_vote(server_address who, slot_ranges what)
    : from{std::move(who)}
    , said{std::move(what)}
    , fingerprint{fingerprint_of(said)} {
    std::size_t known = 0; // number of slots with a primary; a reply names each slot once at most
    const auto note = [&](const std::string& id, const server_address& where) {
        names.insert(pair_of(id, where));
        addresses.insert(text_of(where));
    };
    for (const slot_range& range : said) {
        if (!range.primary.host.empty()) {
            known += length_of(range);
            note(range.primary_id, range.primary);
        }
        for (std::size_t i = 0; i < range.replicas.size(); ++i)
            note(i < range.replica_ids.size() ? range.replica_ids[i] : "", range.replicas[i]);
    }
    knows_all_slots = known == slot_count;
}

std::vector<std::size_t> votes_of(const cluster_members& known, std::span<const map_vote> answers) {
    std::vector<camp> camps;
    for (std::size_t i = 0; i < answers.size(); ++i)
        if (!answers[i].names.empty() && (!known.any() || known.recognize(answers[i].said)))
            join(camps, i, answers[i].names);
    const auto is_less = [&](const camp& one, const camp& other) {
        const std::size_t here = owned_by(known, one), there = owned_by(known, other);
        return here != there ? here < there : one.answers.size() < other.answers.size();
    };
    if (camps.empty())
        return {};
    std::vector<std::size_t> ours = std::ranges::max_element(camps, is_less)->answers;
    std::ranges::sort(ours);
    return ours;
}

std::vector<server_address> nodes_in(const slot_ranges& answer) {
    std::vector<server_address> all;
    std::set<std::string> seen;
    const auto add = [&](const server_address& one) {
        if (!one.host.empty() && seen.insert(text_of(one)).second)
            all.push_back(one);
    };
    for (const slot_range& range : answer)
        add(range.primary);
    for (const slot_range& range : answer)
        for (const server_address& replica : range.replicas)
            add(replica);
    return all;
}

} // namespace holdfast::redis
