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
    const auto found = std::ranges::find(nodes_, where, &known_node::address);
    if (found != nodes_.end())
        return static_cast<node_number>(found - nodes_.begin());
    if (nodes_.size() < nodes_max) {
        nodes_.push_back({.address = where});
        return static_cast<node_number>(nodes_.size() - 1);
    }
    const node_number free = forget_one();
    if (free != nobody)
        nodes_[free] = {.address = where};
    return free;
}

/// The one that was not named for the longest time; none that was in this renewal, as all are that
/// have slots, and their replicas.
slot_map::node_number slot_map::forget_one() {
    const auto useful = [&](const known_node& one) {
        return one.is_seed || one.named == renewals_;
    };
    node_number oldest = nobody;
    for (std::size_t number = 0; number < nodes_.size(); ++number)
        if (!useful(nodes_[number]) &&
            (oldest == nobody || nodes_[number].named < nodes_[oldest].named))
            oldest = static_cast<node_number>(number);
    return oldest;
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

std::vector<slot_map::change> slot_map::renew(std::span<const slot_ranges> answers, stamp asked) {
    if (answers.empty())
        return {};
    ++renewals_;
    for (known_node& one : nodes_) // what the changes tell of must not be forgotten meanwhile
        if (one.slots > 0)
            one.named = renewals_;
    std::erase_if(moved_at_, [&](const auto& move) { return move.second <= asked; });
    std::vector<owners> votes;
    votes.reserve(answers.size());
    for (const slot_ranges& answer : answers)
        votes.push_back(named_in(answer));
    const owners before = owners_;
    node_number elected = nobody;
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
        if (!is_as_the_last(slot, votes, before))
            elected = elect(slot, votes);
        if (moved_at_.empty() || !moved_at_.contains(slot))
            give(slot, elected);
    }
    for (known_node& one : nodes_)
        one.replicas.clear();
    for (const slot_ranges& answer : answers)
        learn_replicas(answer);
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

/// Whoever knows of no owner has no vote: it may be new here. Of two with as many, the present one
/// stays; whether that is right its next answer tells.
slot_map::node_number slot_map::elect(std::size_t slot, std::span<const owners> votes) const {
    node_number elected = nobody;
    std::ptrdiff_t most = 0;
    for (const owners& vote : votes) {
        const node_number one = vote[slot];
        const auto as_it = [&](const owners& other) { return other[slot] == one; };
        const std::ptrdiff_t count = one == nobody ? 0 : std::ranges::count_if(votes, as_it);
        if (count > most || (count > 0 && count == most && one == owners_[slot])) {
            elected = one;
            most = count;
        }
    }
    return elected;
}

/// Then the same is elected: there are many slots, and few ranges of them.
bool slot_map::is_as_the_last(std::size_t slot, std::span<const owners> votes,
                              const owners& before) {
    return slot > 0 && before[slot] == before[slot - 1] &&
           std::ranges::all_of(votes,
                               [&](const owners& vote) { return vote[slot] == vote[slot - 1]; });
}

/// From the first answer that agrees with what was elected.
void slot_map::learn_replicas(const slot_ranges& answer) {
    for (const slot_range& range : answer) {
        const node_number primary = owners_[range.first];
        if (primary == nobody || nodes_[primary].address != range.primary ||
            !nodes_[primary].replicas.empty())
            continue;
        for (const server_address& each : range.replicas) {
            const node_number replica = know(each);
            std::vector<node_number>& known = nodes_[primary].replicas;
            if (replica != nobody && std::ranges::find(known, replica) == known.end())
                known.push_back(replica);
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
