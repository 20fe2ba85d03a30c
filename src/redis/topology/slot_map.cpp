// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/slot_map.hpp"

#include "net/failure.hpp"
#include "redis/client/error_replies.hpp"

#include <algorithm>
#include <bitset>
#include <charconv>
#include <functional>
#include <utility>

namespace holdfast::redis {
namespace {

/// Table with the CRC-16/XMODEM value of each byte; the polynomial is x^16 + x^12 + x^5 + 1.
constexpr std::array<std::uint16_t, 256> remainders = [] {
    std::array<std::uint16_t, 256> all{};
    for (unsigned byte = 0; byte < all.size(); ++byte) {
        unsigned rest = byte << 8;
        for (int bit = 0; bit < 8; ++bit)
            rest = (rest << 1) ^ ((rest & 0x8000) != 0 ? 0x1021u : 0u);
        all[byte] = static_cast<std::uint16_t>(rest);
    }
    return all;
}();

} // namespace

std::string_view hashed_part(std::string_view key) {
    const std::size_t open = key.find('{');
    if (open == key.npos)
        return key;
    const std::size_t close = key.find('}', open);
    if (close == key.npos || close == open + 1)
        return key;
    return key.substr(open + 1, close - open - 1);
}

std::uint16_t key_slot(std::string_view key) {
    std::uint16_t rest = 0;
    for (const char c : hashed_part(key)) {
        const auto next = static_cast<std::uint8_t>((rest >> 8) ^ static_cast<std::uint8_t>(c));
        rest = static_cast<std::uint16_t>((rest << 8) ^ remainders[next]);
    }
    return static_cast<std::uint16_t>(rest % slot_count);
}

namespace {

using placed = redirection::kind;
using fate = redirection::outcome;

/// Returns the `redirection` for an error which says that no server serves the slot. The server has
/// not executed the request.
redirection not_served() {
    return {.what = placed::pause, .refresh = true, .pause_first = true};
}

/// Reads the slot and the address in a MOVED or ASK error, for example `3999 127.0.0.1:6381`.
redirection to_another(placed what, std::string_view where, std::string_view asked) {
    redirection told{.what = what, .refresh = what == placed::moved};
    const char* const end = where.data() + where.size();
    const auto [behind, failed] = std::from_chars(where.data(), end, told.slot);
    if (failed != std::errc{} || told.slot >= slot_count || behind == end || *behind != ' ')
        return not_served();
    const auto to = read_host_and_port({behind + 1, end}, asked);
    if (!to)
        return not_served();
    told.to = *to;
    return told;
}

} // namespace

redirection read_redirection(std::string_view error, std::string_view asked) {
    const std::size_t blank = error.find(' ');
    const std::string_view first = error.substr(0, blank);
    const std::string_view rest = blank == error.npos ? "" : error.substr(blank + 1);
    if (first == "MOVED")
        return to_another(placed::moved, rest, asked);
    if (first == "ASK")
        return to_another(placed::ask, rest, asked);
    if (asks_for_script(error))
        return {.what = placed::unknown_script};
    if (was_unblocked(error))
        return {.what = placed::demoted, .done = fate::carried_out, .refresh = true, .cut = true};
    if (tells_of_absence(error))
        return {.what = placed::not_here, .done = fate::unknown, .refresh = true};
    switch (classify(error)) {
    case store_errc::read_only:
        return {.what = placed::demoted, .refresh = true, .cut = true};
    case store_errc::master_down:
        return {.what = placed::demoted, .refresh = true, .pause_first = true, .cut = true};
    case store_errc::try_again:
    case store_errc::cluster_down:
    case store_errc::loading:
        return not_served();
    default:
        return {};
    }
}

namespace {

/// Position of the nodes in a range, which has the form `[first, last, node, node…]`. The primary
/// comes before its replicas.
constexpr std::size_t words_before_nodes = 2;

[[noreturn]] void no_sense(const std::string& what) {
    throw net::failure{store_errc::protocol, "CLUSTER SLOTS returned an invalid reply: " + what};
}

std::int64_t number_up_to(std::int64_t most, const reply& said, const char* what) {
    if (said.type != reply::kind::integer)
        no_sense(std::string{what} + " is not a number");
    if (said.integer < 0 || said.integer > most)
        no_sense(std::string{what} + " is " + std::to_string(said.integer));
    return said.integer;
}

std::uint16_t slot_in(const reply& said) {
    return static_cast<std::uint16_t>(number_up_to(slot_count - 1, said, "the slot"));
}

/// Returns the name or address of the kind `name`, for example `ip`, that a node has besides its
/// host. Since version 7.0, a reply lists pairs of a kind and a value after a node's host, port and
/// id.
std::string_view known_too_as(const reply& node, std::string_view name) {
    constexpr std::size_t place = 3;
    if (node.items.size() <= place)
        return {};
    const std::vector<reply>& pairs = node.items[place].items;
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
        if (pairs[i].text == name && is_host(pairs[i + 1].text))
            return pairs[i + 1].text;
    return {};
}

/// Returns the host of a node. If the host in the reply is empty, the result is the host that was
/// asked. If the reply has `?`, the node should have a host name but has none; the result is then
/// the node's `ip`.
std::string host_in(const reply& node, const server_address& asked) {
    const reply& said = node.items[0];
    if (said.type != reply::kind::nil && said.type != reply::kind::text)
        no_sense("a host is not a text");
    if (said.text.empty())
        return asked.host;
    if (said.text == "?") {
        const std::string_view address = known_too_as(node, "ip");
        return address.empty() ? asked.host : std::string{address};
    }
    if (!is_host_beside(said.text, asked.host))
        no_sense("a host has an invalid name");
    return said.text;
}

/// Returns the address of a node. Port 0 in the reply means that the cluster does not know where
/// the node has moved; the result then has no host.
server_address node_in(const reply& node, const server_address& asked) {
    if (node.type != reply::kind::array || node.items.size() < 2)
        no_sense("a node has no host and port");
    const auto port = static_cast<std::uint16_t>(number_up_to(65535, node.items[1], "the port"));
    std::string host = host_in(node, asked);
    return port == 0 ? server_address{} : server_address{std::move(host), port};
}

/// Returns the id of a node in a reply to CLUSTER SLOTS. The list about the node is: host, port,
/// and (since Redis 4.0) the id.
std::string id_in(const reply& node) {
    constexpr std::size_t place = 2;
    return node.items.size() > place ? node.items[place].text : std::string{};
}

slot_range range_in(const reply& said, const server_address& asked) {
    if (said.type != reply::kind::array || said.items.size() <= words_before_nodes)
        no_sense("a range of slots has no node");
    slot_range range;
    range.first = slot_in(said.items[0]);
    range.last = slot_in(said.items[1]);
    if (range.first > range.last)
        no_sense("a range of slots goes from " + std::to_string(range.first) + " to " +
                 std::to_string(range.last));
    range.primary = node_in(said.items[words_before_nodes], asked);
    range.primary_id = id_in(said.items[words_before_nodes]);
    for (std::size_t i = words_before_nodes + 1; i < said.items.size(); ++i)
        if (server_address replica = node_in(said.items[i], asked); !replica.host.empty()) {
            range.replicas.push_back(std::move(replica));
            range.replica_ids.push_back(id_in(said.items[i]));
        }
    return range;
}

} // namespace

slot_ranges read_slots(const reply& said, const server_address& asked) {
    if (said.type == reply::kind::error) {
        const store_errc why = classify(said.text);
        const bool is_denied = why == store_errc::no_permission;
        throw net::failure{why, with_missing_right(said.text, is_denied ? "+cluster|slots" : "")};
    }
    if (said.type != reply::kind::array)
        no_sense("it is not a list");
    slot_ranges all;
    std::bitset<slot_count> seen;
    for (const reply& one : said.items) {
        all.push_back(range_in(one, asked));
        for (std::size_t slot = all.back().first; slot <= all.back().last; ++slot) {
            if (seen[slot])
                no_sense("the slot " + std::to_string(slot) + " is listed twice");
            seen.set(slot);
        }
    }
    return all;
}

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

/// Replies from one cluster, and all nodes that they name.
struct camp {
    std::vector<std::size_t> answers;
    std::set<std::string> names;
};

/// Adds a reply to the groups. Merges all groups that share a node with the reply.
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

/// Returns a hash of the owners of all slots, which does not depend on the order of the ranges.
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
    std::size_t known = 0; // number of slots with a primary; no slot is named twice
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

/// Forgets former nodes if there are more than `former_max`, beginning with the nodes that no reply
/// has named for the longest time. Never forgets seeds (nodes in the options) and nodes that the
/// present replies name.
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
    // Mark the present owners as named, so that forget_former() keeps their numbers. The returned
    // changes contain these numbers.
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

/// Returns the owner that the votes give to a slot. If the slot has no owner, and several nodes
/// have equally many votes, the first of these nodes wins. If this choice is wrong, the chosen node
/// redirects the client to the right one.
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

/// Returns whether a slot has the same owner and the same votes as the slot before it. Then the
/// result of the election is the same, too. This saves most of the work, because there are many
/// slots, but few ranges of slots with the same owner.
bool slot_map::is_as_the_last(std::size_t slot, std::span<const owners> votes,
                              const owners& before) {
    return slot > 0 && before[slot] == before[slot - 1] &&
           std::ranges::all_of(votes,
                               [&](const owners& vote) { return vote[slot] == vote[slot - 1]; });
}

/// Copies the ids and the replicas of nodes from the ranges whose primary was elected. If several
/// ranges of a primary list replicas, the first list is used.
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
