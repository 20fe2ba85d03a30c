// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/slot_map.hpp"

#include <algorithm>

namespace holdfast::redis {

slot_map::slot_map(std::span<const server_address> seeds) {
    owners_.fill(nobody);
    for (const server_address& seed : seeds)
        if (const node_number number = know(seed); number != nobody)
            nodes_[number].is_seed = true;
}

std::vector<slot_map::node_number> slot_map::primaries() const {
    std::vector<node_number> found;
    for (std::size_t number = 0; number < nodes_.size(); ++number)
        if (nodes_[number].slots > 0)
            found.push_back(static_cast<node_number>(number));
    return found;
}

std::size_t slot_map::unserved() const {
    return static_cast<std::size_t>(std::ranges::count(owners_, nobody));
}

slot_map::node_number slot_map::know(const server_address& where) {
    const node_number number = number_for(where);
    if (number != nobody)
        nodes_[number].named = renewals_;
    return number;
}

slot_map::node_number slot_map::number_for(const server_address& where) {
    const std::string text = text_of(where);
    if (const auto found = numbers_.find(text); found != numbers_.end())
        return found->second;
    node_number made = nobody;
    if (!free_.empty()) {
        made = free_.back();
        free_.pop_back();
        nodes_[made] = {.address = where};
    } else if (nodes_.size() < nodes_max) {
        made = static_cast<node_number>(nodes_.size());
        nodes_.push_back({.address = where});
    }
    if (made != nobody)
        numbers_.emplace(text, made);
    return made;
}

/// Forgets former nodes if there are more than `former_max`. The nodes that no reply has named for
/// the longest time go first. Seeds and nodes that this renewal named stay.
void slot_map::forget_former() {
    std::vector<node_number> former;
    for (std::size_t number = 0; number < nodes_.size(); ++number) {
        const known_node& one = nodes_[number];
        if (!one.address.host.empty() && !one.is_seed && one.named != renewals_)
            former.push_back(static_cast<node_number>(number));
    }
    if (former.size() <= former_max)
        return;
    std::ranges::stable_sort(former, {}, [&](node_number one) { return nodes_[one].named; });
    former.resize(former.size() - former_max);
    for (const node_number one : former) {
        numbers_.erase(text_of(nodes_[one].address));
        nodes_[one] = {};
        free_.push_back(one);
    }
}

std::vector<slot_map::node_number> slot_map::member_numbers() const {
    std::vector<node_number> all = primaries();
    const std::size_t count = all.size();
    for (std::size_t i = 0; i < count; ++i)
        all.insert(all.end(), nodes_[all[i]].replicas.begin(), nodes_[all[i]].replicas.end());
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

cluster_members slot_map::members() const {
    cluster_members all;
    for (const node_number number : member_numbers()) {
        const known_node& one = nodes_[number];
        all.addresses.insert(text_of(one.address));
        if (!one.id.empty())
            all.ids.insert(one.id);
        if (one.slots > 0)
            all.owners[one.id + '@' + text_of(one.address)] = one.slots;
    }
    return all;
}

std::vector<server_address> slot_map::member_addresses() const {
    std::vector<server_address> all;
    for (const node_number number : member_numbers())
        all.push_back(nodes_[number].address);
    return all;
}

bool slot_map::is_member(const server_address& where) const {
    const auto found = numbers_.find(text_of(where));
    if (found == numbers_.end())
        return false;
    const auto has_it = [&](const known_node& one) {
        return one.slots > 0 &&
               std::ranges::find(one.replicas, found->second) != one.replicas.end();
    };
    return nodes_[found->second].slots > 0 || std::ranges::any_of(nodes_, has_it);
}

std::string slot_map::id_at(const server_address& where) const {
    const auto found = numbers_.find(text_of(where));
    return found == numbers_.end() ? std::string{} : nodes_[found->second].id;
}

bool slot_map::differs_from(const slot_ranges& answer) const {
    std::size_t named = 0;
    for (const slot_range& range : answer) {
        if (range.primary.host.empty())
            continue;
        const auto found = numbers_.find(text_of(range.primary));
        if (found == numbers_.end())
            return true;
        for (std::size_t slot = range.first; slot <= range.last; ++slot)
            if (owners_[slot] != found->second)
                return true;
        named += range.last - range.first + std::size_t{1};
    }
    return named != slot_count - unserved();
}

slot_map::node_number slot_map::moved(std::uint16_t slot, const server_address& to) {
    const node_number number = know(to);
    if (number == nobody)
        return nobody;
    give(slot, number);
    moved_at_[slot] = ++moves_;
    return number;
}

void slot_map::give(std::size_t slot, node_number to) {
    if (owners_[slot] != nobody)
        --nodes_[owners_[slot]].slots;
    owners_[slot] = to;
    if (to != nobody)
        ++nodes_[to].slots;
}

std::vector<slot_map::change> slot_map::renew(std::span<const slot_ranges> answers, stamp asked,
                                              std::size_t voters) {
    if (answers.empty())
        return {};
    ++renewals_;
    // Marks all present owners as named in this renewal, so that forget_former() keeps them. The
    // returned changes contain the numbers of these nodes.
    for (known_node& one : nodes_)
        if (one.slots > 0)
            one.named = renewals_;
    std::erase_if(moved_at_, [&](const auto& move) { return move.second <= asked; });
    std::vector<owners> votes;
    votes.reserve(answers.size());
    for (const slot_ranges& answer : answers)
        votes.push_back(named_in(answer));
    voters = std::max(voters, answers.size());
    const owners before = owners_;
    node_number elected = nobody;
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
        if (!is_as_the_last(slot, votes, before))
            elected = elect(slot, votes, voters);
        if (moved_at_.empty() || !moved_at_.contains(slot))
            give(slot, elected);
    }
    for (known_node& one : nodes_)
        one.replicas.clear();
    for (const slot_ranges& answer : answers)
        learn_nodes(answer);
    forget_former();
    return since(before);
}

slot_map::owners slot_map::named_in(const slot_ranges& answer) {
    owners named;
    named.fill(nobody);
    for (const slot_range& range : answer)
        if (!range.primary.host.empty())
            std::fill(named.begin() + range.first, named.begin() + range.last + 1,
                      know(range.primary));
    return named;
}

/// Returns the owner that the votes give to a slot. For a slot without an owner, two nodes may have
/// equally many votes; then the first node wins. If that choice is wrong, the chosen node redirects
/// the client with its next reply.
slot_map::node_number slot_map::elect(std::size_t slot, std::span<const owners> votes,
                                      std::size_t voters) const {
    const node_number present = owners_[slot];
    node_number elected = present;
    std::size_t most = present == nobody ? 0 : voters / 2;
    for (const owners& vote : votes) {
        const node_number one = vote[slot];
        const auto as_it = [&](const owners& other) { return other[slot] == one; };
        const auto count = static_cast<std::size_t>(std::ranges::count_if(votes, as_it));
        const bool counts = one == nobody ? present != nobody && count > 1 : true;
        if (count > most && counts) {
            elected = one;
            most = count;
        }
    }
    return elected;
}

/// Returns whether a slot has the same owner and the same votes as the slot before it. If so, the
/// result of the election is the same and need not be computed again. There are many slots but few
/// ranges, so this saves most of the work.
bool slot_map::is_as_the_last(std::size_t slot, std::span<const owners> votes,
                              const owners& before) {
    return slot > 0 && before[slot] == before[slot - 1] &&
           std::ranges::all_of(votes,
                               [&](const owners& vote) { return vote[slot] == vote[slot - 1]; });
}

/// Takes node ids and replicas from the ranges whose primary was elected. If several ranges of a
/// primary list replicas, the first of these ranges decides.
void slot_map::learn_nodes(const slot_ranges& answer) {
    for (const slot_range& range : answer) {
        const node_number primary = owners_[range.first];
        if (primary == nobody || nodes_[primary].address != range.primary)
            continue;
        nodes_[primary].id = range.primary_id;
        if (!nodes_[primary].replicas.empty())
            continue;
        for (std::size_t i = 0; i < range.replicas.size(); ++i) {
            const node_number replica = know(range.replicas[i]);
            std::vector<node_number>& known = nodes_[primary].replicas;
            if (replica == nobody || std::ranges::find(known, replica) != known.end())
                continue;
            known.push_back(replica);
            nodes_[replica].id = i < range.replica_ids.size() ? range.replica_ids[i] : "";
        }
    }
}

std::vector<slot_map::change> slot_map::since(const owners& before) const {
    std::vector<change> all;
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
        if (owners_[slot] == before[slot])
            continue;
        const auto at = static_cast<std::uint16_t>(slot);
        const change one{at, at, before[slot], owners_[slot]};
        if (!all.empty() && all.back().last + 1 == at && all.back().from == one.from &&
            all.back().to == one.to)
            all.back().last = at;
        else
            all.push_back(one);
    }
    return all;
}

} // namespace holdfast::redis
