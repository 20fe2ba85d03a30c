// SPDX-License-Identifier: Apache-2.0
#include "support/redis_cluster.hpp"

#include "support/eventually.hpp"
#include "support/redis_server.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace holdfast::support {
namespace {

constexpr int slot_count = 16'384;

/// Parses a word of a line of CLUSTER NODES: a slot "5", slots "0-5461", or "[93->-292f8b…", a slot
/// that is being migrated or imported.
void read_slots(cluster_line& into, const std::string& word) {
    if (word.starts_with('[')) {
        into.open_slots.push_back(std::stoi(word.substr(1)));
        return;
    }
    const std::size_t dash = word.find('-');
    const int first = std::stoi(word);
    into.slots.push_back({first, dash == word.npos ? first : std::stoi(word.substr(dash + 1))});
}

} // namespace

bool cluster_line::is(std::string_view flag) const {
    return ("," + flags + ",").find("," + std::string{flag} + ",") != std::string::npos;
}

bool cluster_line::has(int slot) const {
    return std::ranges::any_of(
        slots, [slot](slot_range each) { return each.first <= slot && slot <= each.last; });
}

std::string cluster_line::text() const {
    std::string line = id + " " + address + " " + flags + " " + primary + " 0 0 " +
                       std::to_string(epoch) + " connected";
    for (const slot_range each : slots)
        line += " " + std::to_string(each.first) + "-" + std::to_string(each.last);
    return line;
}

std::vector<cluster_line> cluster_lines(const std::string& text) {
    std::vector<cluster_line> all;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        cluster_line read;
        std::string pinged, heard, link;
        words >> read.id >> read.address >> read.flags >> read.primary >> pinged >> heard >>
            read.epoch >> link;
        read.is_connected = link == "connected";
        for (std::string slots; words >> slots;)
            read_slots(read, slots);
        all.push_back(read);
    }
    return all;
}

std::vector<std::vector<slot_range>> slots_shared_out(std::size_t parts) {
    std::vector<std::vector<slot_range>> all;
    const int count = static_cast<int>(parts);
    for (int i = 0; i < count; ++i)
        all.push_back({{slot_count * i / count, slot_count * (i + 1) / count - 1}});
    return all;
}

namespace {

const std::string loopback = "127.0.0.1";

std::string name_of(redis_cluster::election how) {
    return how == redis_cluster::election::forced ? "FORCE" : "TAKEOVER";
}

} // namespace

std::vector<cluster_line> lines_of(redis_server& node) {
    std::vector<cluster_line> lines =
        cluster_lines(require_answer(node, {"CLUSTER", "NODES"}).text);
    std::ranges::stable_partition(lines,
                                  [](const cluster_line& each) { return each.is("myself"); });
    return lines;
}

redis_cluster::redis_cluster(const server_binary& which, options how)
    : servers_{which,
               {.own_clocks = how.own_clocks,
                .can_be_cut = how.can_be_cut,
                .tls = how.tls,
                .keep_data = how.keep_data,
                .password = how.password,
                .arguments = how.arguments}}
    , how_{std::move(how)} {
    const auto slots = how_.slots.empty() ? slots_shared_out(how_.primaries) : how_.slots;
    const std::size_t count = how_.primaries * (1 + how_.replicas);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint16_t port = servers_.reserve(true);
        const std::size_t shard = i % how_.primaries;
        const bool leads = i < how_.primaries;
        plan_.push_back({.id = random_id(),
                         .address = loopback + ":" + std::to_string(servers_.port_of(i)) + "@" +
                                    std::to_string(servers_.bus_port_of(i)),
                         .flags = leads ? "master" : "slave",
                         .primary = leads ? "-" : plan_[shard].id,
                         .epoch = shard + 1,
                         .slots = leads ? slots.at(shard) : std::vector<slot_range>{}});
        if (how_.can_be_cut)
            servers_.ways().know(port, plan_.back().id);
    }
    for (std::size_t i = 0; i < count; ++i)
        servers_.start(arguments_for(i), nodes_for(i));
    wait_until_agreed();
    known_election_ = latest_election();
}

std::string redis_cluster::nodes_for(std::size_t which) const {
    std::string text;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
        cluster_line line = plan_[i];
        if (i == which)
            line.flags = "myself," + line.flags;
        text += line.text() + "\n";
    }
    return text + "vars currentEpoch " + std::to_string(how_.primaries) + " lastVoteEpoch 0\n";
}

std::vector<std::string> redis_cluster::arguments_for(std::size_t which) const {
    std::vector<std::string> words{"--cluster-node-timeout",
                                   std::to_string(how_.node_timeout.count()),
                                   "--cluster-allow-replica-migration",
                                   "no",
                                   "--cluster-announce-ip",
                                   loopback};
    if (how_.can_be_cut)
        words.insert(words.end(),
                     {"--cluster-announce-port", std::to_string(servers_.port_of(which)),
                      "--cluster-announce-bus-port", std::to_string(servers_.bus_port_of(which))});
    if (how_.tls)
        words.insert(words.end(), {"--tls-cluster", "yes"});
    return words;
}

const std::string& redis_cluster::id_of(const redis_server& node) const {
    return plan_[servers_.index_of(node)].id;
}

redis_server& redis_cluster::server_named(const std::string& id) {
    for (std::size_t i = 0; i < plan_.size(); ++i)
        if (plan_[i].id == id)
            return node(i);
    throw std::runtime_error{"no node of this cluster: " + id};
}

int redis_cluster::slot_of(const std::string& name) {
    redis_server& any = *servers_.up().at(0);
    return static_cast<int>(require_answer(any, {"CLUSTER", "KEYSLOT", name}).integer);
}

/// Returns the primary of the slot by the latest election. An old primary that was cut off also
/// claims the slot, but its election is older.
redis_server* redis_cluster::find_primary(int slot) {
    redis_server* found = nullptr;
    std::uint64_t latest = 0;
    for (redis_server* each : servers_.all()) {
        if (!each->is_up())
            continue;
        const cluster_line itself = lines_of(*each).at(0);
        if (!itself.is("master") || !itself.has(slot) || (found && itself.epoch <= latest))
            continue;
        found = each;
        latest = itself.epoch;
    }
    return found;
}

redis_server& redis_cluster::primary_of(int slot) {
    redis_server* found = nullptr;
    until("slot " + std::to_string(slot) + " has a primary", [&] {
        found = find_primary(slot);
        return found != nullptr;
    });
    return *found;
}

redis_server& redis_cluster::replica_of(redis_server& primary) {
    for (redis_server* each : servers_.up())
        if (lines_of(*each).at(0).primary == id_of(primary))
            return *each;
    throw std::runtime_error{"this node has no replica that is up"};
}

redis_server& redis_cluster::other_primary(const redis_server& than) {
    for (redis_server* each : servers_.up())
        if (each != &than && lines_of(*each).at(0).is("master"))
            return *each;
    throw std::runtime_error{"this cluster has no other primary that is up"};
}

void redis_cluster::failover(redis_server& replica, election how) {
    std::vector<std::string> words{"CLUSTER", "FAILOVER"};
    if (how != election::agreed)
        words.push_back(name_of(how));
    require_answer(replica, words);
    until("a replica is elected", [&] { return lines_of(replica).at(0).is("master"); });
}

void redis_cluster::begin_move(int slot, redis_server& to) {
    redis_server& from = primary_of(slot);
    const std::string number = std::to_string(slot);
    require_answer(to, {"CLUSTER", "SETSLOT", number, "IMPORTING", id_of(from)});
    require_answer(from, {"CLUSTER", "SETSLOT", number, "MIGRATING", id_of(to)});
}

void redis_cluster::move_keys(int slot, redis_server& to) {
    redis_server& from = primary_of(slot);
    for (;;) {
        const redis::reply keys =
            require_answer(from, {"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "100"});
        if (keys.items.empty())
            return;
        std::vector<std::string> words{"MIGRATE", loopback, std::to_string(port_of(to)),
                                       "",        "0",      "10000"};
        if (!how_.password.empty())
            words.insert(words.end(), {"AUTH", how_.password});
        words.emplace_back("KEYS");
        for (const redis::reply& key : keys.items)
            words.push_back(key.text);
        require_answer(from, words);
    }
}

/// Ends the move at the new owner first: it then has the highest epoch, so the other nodes believe
/// that it has the slot.
void redis_cluster::end_move(int slot, redis_server& to) {
    const std::vector<std::string> words{"CLUSTER", "SETSLOT", std::to_string(slot), "NODE",
                                         id_of(to)};
    require_answer(to, words);
    for (redis_server* each : servers_.up())
        if (each != &to && lines_of(*each).at(0).is("master"))
            require_answer(*each, words);
    wait_until_agreed();
}

void redis_cluster::move(int slot, redis_server& to) {
    begin_move(slot, to);
    move_keys(slot, to);
    end_move(slot, to);
}

void redis_cluster::call_off_moves() {
    for (redis_server* each : servers_.up())
        until("no slot is open", [each] {
            const cluster_line itself = lines_of(*each).at(0);
            if (!itself.is("master") || itself.open_slots.empty())
                return true; // a replica gets the slots from its primary
            // Errors are ignored: the node may become a replica meanwhile.
            for (const int slot : itself.open_slots)
                each->command({"CLUSTER", "SETSLOT", std::to_string(slot), "STABLE"});
            return false;
        });
}

bool redis_cluster::is_up(const std::string& id) {
    const std::vector<redis_server*> up = servers_.up();
    return std::ranges::find(up, &server_named(id)) != up.end();
}

/// Returns the node's report about all nodes that are up, or nothing if the report calls one of
/// them unhealthy.
std::optional<std::string> redis_cluster::told_by(redis_server& node) {
    std::string told;
    std::vector<cluster_line> lines = lines_of(node);
    std::ranges::sort(lines, {}, &cluster_line::id);
    for (const cluster_line& line : lines) {
        if (line.is("handshake"))
            return std::nullopt;
        if (!is_up(line.id))
            continue;
        if (!line.is_connected || line.is("fail") || line.is("fail?"))
            return std::nullopt;
        told += line.id + (line.is("master") ? " leads" : " follows " + line.primary);
        for (const slot_range range : line.slots)
            told += " " + std::to_string(range.first) + "-" + std::to_string(range.last);
        told += '\n';
    }
    return told;
}

bool redis_cluster::is_well(redis_server& node) {
    const std::string state = require_answer(node, {"CLUSTER", "INFO"}).text;
    if (state.find("cluster_state:ok") == state.npos)
        return false;
    const std::string primary = lines_of(node).at(0).primary;
    return primary == "-" || (is_up(primary) && is_in_sync(node, offset_of(server_named(primary))));
}

bool redis_cluster::agree() {
    std::optional<std::string> told;
    return std::ranges::all_of(servers_.up(), [&](redis_server* each) {
        const auto now = told_by(*each);
        if (!told)
            told = now;
        return now && now == told && is_well(*each);
    });
}

void redis_cluster::wait_until_agreed() {
    until("all nodes agree", [this] { return agree(); });
}

void redis_cluster::clear() {
    for (redis_server* each : servers_.up())
        if (lines_of(*each).at(0).is("master"))
            require_answer(*each, {"FLUSHALL"});
}

std::string redis_cluster::latest_election() {
    const std::string about = require_answer(node(0), {"CLUSTER", "INFO"}).text;
    const std::size_t at = about.find("cluster_current_epoch:");
    return about.substr(at, about.find('\r', at) - at);
}

void redis_cluster::restore() {
    servers_.revive();
    call_off_moves();
    wait_until_agreed();
    if (latest_election() != known_election_) {
        forget_votes();
        wait_until_agreed();
        known_election_ = latest_election();
    }
    clear();
    wait_until_agreed();
}

/// Restarts the replicas, because of a bug in redis 7.0: a replica that was elected recently counts
/// the old votes again at its next election, and becomes a primary that no other node knows.
void redis_cluster::forget_votes() {
    for (redis_server* each : servers_.all())
        if (!lines_of(*each).at(0).is("master"))
            each->restart();
}

redis::options redis_cluster::client_options() {
    redis::options how;
    how.cluster.emplace();
    for (std::size_t i = 0; i < size(); ++i)
        how.cluster->addresses.push_back({loopback, servers_.port_of(i)});
    how.password = secret{how_.password};
    if (how_.tls)
        how.tls = tls_options{.ca_file = servers_.ca_file()};
    return how;
}

} // namespace holdfast::support
