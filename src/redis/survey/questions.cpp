// SPDX-License-Identifier: Apache-2.0
#include "redis/survey/questions.hpp"

#include "net/address.hpp"
#include "net/failure.hpp"
#include "redis/cluster/slot_map.hpp"
#include "redis/wire/composer.hpp"
#include "redis/wire/host.hpp"
#include "redis/wire/info.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::redis {
namespace {

using kind = reply::kind;
using std::chrono::microseconds;

/// In the order in which they are sent. The first time and the last one have all others between
/// them, so whatever sends some of them elsewhere has its chance.
enum question : std::size_t {
    first_time,
    of_itself,
    of_files,
    of_replicas,
    of_cluster, // from here on, of a node of a cluster
    of_slots,
    of_nodes,
    of_listeners,
    of_shard_listeners,
};
constexpr std::size_t for_servers = of_cluster, for_nodes = of_shard_listeners + 1;

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [behind, failed] = std::from_chars(text.data(), end, value);
    if (failed != std::errc{} || behind != end)
        return std::nullopt;
    return value;
}

/// The date that TIME tells.
std::optional<microseconds> date_in(const reply& said) {
    if (said.type != kind::array || said.items.size() != 2)
        return std::nullopt;
    const auto seconds = number_in<std::uint32_t>(said.items[0].text);
    const auto rest = number_in<std::uint32_t>(said.items[1].text);
    if (!seconds || !rest)
        return std::nullopt;
    return std::chrono::seconds{*seconds} + microseconds{*rest};
}

/// Our clock counts whole milliseconds, so it may be later than it says.
constexpr duration tick{1};

clock_reading reading_of(microseconds date, const reply& said) {
    return {date - (said.received_at + tick).time_since_epoch(),
            date - said.sent_at.time_since_epoch()};
}

/// No more time has passed on its clock between the two than here, and no less than none.
bool is_jump(microseconds first, microseconds last, const reply& said) {
    const microseconds passed = last - first;
    return passed < microseconds::zero() || passed > said.received_at + tick - said.sent_at;
}

void read_clock(const reply& first, const reply& last, server_report& told) {
    const std::optional<microseconds> before = date_in(first), after = date_in(last);
    if (!before || !after)
        return;
    told.clock = reading_of(*before, first);
    told.clock_jumps = is_jump(*before, *after, last);
}

/// Pairs of names and values.
std::string_view setting_in(const reply& said, std::string_view name) {
    if (said.type != kind::array)
        return {};
    for (std::size_t i = 0; i + 1 < said.items.size(); i += 2)
        if (said.items[i].text == name)
            return said.items[i + 1].text;
    return {};
}

/// The words behind the first, in a line.
std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> all;
    while (!line.empty()) {
        const std::string_view word = line.substr(0, line.find(' '));
        if (!word.empty())
            all.push_back(word);
        line.remove_prefix(std::min(word.size() + 1, line.size()));
    }
    return all;
}

/// A node tells them of itself alone: `[93->-id]`, `[93-<-id]`.
open_slots open_in(std::string_view nodes) {
    open_slots found;
    while (!nodes.empty()) {
        const std::string_view line = nodes.substr(0, nodes.find('\n'));
        nodes.remove_prefix(std::min(line.size() + 1, nodes.size()));
        if (line.find("myself") == line.npos)
            continue;
        for (const std::string_view word : words_of(line)) {
            if (!word.starts_with('['))
                continue;
            const auto slot = number_in<std::uint16_t>(word.substr(1, word.find('-') - 1));
            if (slot && found.count++ == 0)
                found.first = *slot;
        }
    }
    return found;
}

/// A node that is behind the others; not one that names nobody.
std::optional<dissent> dissent_in(const reply& slots, const server_address& asked,
                                  const slot_map& map) {
    dissent found;
    for (const slot_range& each : read_slots(slots, asked)) {
        if (each.primary.host.empty())
            continue;
        for (std::size_t slot = each.first; slot <= each.last; ++slot) {
            const slot_map::node_number owner = map.owner(static_cast<std::uint16_t>(slot));
            if (owner == slot_map::nobody || map.address(owner) == each.primary)
                continue;
            if (found.slots++ == 0) {
                found.first = static_cast<std::uint16_t>(slot);
                found.named = each.primary;
            }
        }
    }
    return found.slots > 0 ? std::optional{found} : std::nullopt;
}

std::optional<bool> any_in(const reply& channels) {
    if (channels.type != kind::array)
        return std::nullopt;
    return !channels.items.empty();
}

void read_node(const std::vector<reply>& said, const server_address& asked, const slot_map& map,
               server_report& told) {
    if (const auto length = number_in<std::int64_t>(
            setting_in(said[of_cluster], "cluster-node-timeout")))
        told.node_timeout = duration{*length};
    const std::string_view migrate =
        setting_in(said[of_cluster], "cluster-allow-replica-migration");
    if (!migrate.empty())
        told.replicas_migrate = migrate == "yes";
    if (said[of_nodes].type == kind::text)
        told.open = open_in(said[of_nodes].text);
    try {
        told.other_view = dissent_in(said[of_slots], asked, map);
    } catch (const net::failure&) { // whoever makes the map hears of it
    }
    told.plain_listeners = any_in(said[of_listeners]);
    told.shard_listeners = any_in(said[of_shard_listeners]);
}

/// `slave0:ip=127.0.0.1,port=6380,state=online,offset=14,lag=0`.
std::string_view part_of(std::string_view replica, std::string_view name) {
    while (!replica.empty()) {
        const std::string_view part = replica.substr(0, replica.find(','));
        replica.remove_prefix(std::min(part.size() + 1, replica.size()));
        if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=')
            return part.substr(name.size() + 1);
    }
    return {};
}

/// One line for each.
std::vector<std::string_view> replica_lines(std::string_view info) {
    std::vector<std::string_view> all;
    for (;;) {
        const std::string_view line = info_field(info, "slave" + std::to_string(all.size()));
        if (line.empty())
            return all;
        all.push_back(line);
    }
}

} // namespace

std::string questions_for(questioned whom) {
    std::string out;
    composer to{out};
    to.request({"TIME"});
    to.request({"INFO"});
    to.request({"CONFIG", "GET", "append*"});
    to.request({"WAIT", "0", "0"});
    if (whom == questioned::node_of_cluster) {
        to.request({"CONFIG", "GET", "cluster-*"});
        to.request({"CLUSTER", "SLOTS"});
        to.request({"CLUSTER", "NODES"});
        to.request({"PUBSUB", "CHANNELS", "redisson_lock__channel*"});
        to.request({"PUBSUB", "SHARDCHANNELS", "redisson_lock__channel*"});
    }
    to.request({"TIME"});
    return out;
}

std::size_t count_of_questions(questioned whom) {
    return (whom == questioned::node_of_cluster ? for_nodes : for_servers) + 1;
}

server_report read_answers(questioned whom, const std::vector<reply>& said,
                           const server_address& asked, const slot_map* map) {
    server_report told{.address = net::address_of({}, asked.host, asked.port)};
    if (said.size() != count_of_questions(whom))
        return told;
    read_clock(said[first_time], said.back(), told);
    if (said[of_itself].type == kind::text)
        told.info = said[of_itself].text;
    told.fsync = setting_in(said[of_files], "appendfsync");
    told.closed_to_files = said[of_files].type == kind::error;
    if (said[of_replicas].type == kind::error)
        told.wait_refusal = said[of_replicas].text;
    if (map)
        read_node(said, asked, *map, told);
    return told;
}

std::vector<server_address> replicas_in(std::string_view info) {
    std::vector<server_address> all;
    for (const std::string_view line : replica_lines(info)) {
        const std::string_view host = part_of(line, "ip");
        const auto port = read_port(part_of(line, "port"));
        if (port && is_host(host))
            all.push_back({std::string{host}, *port});
    }
    return all;
}

std::size_t replicas_online_in(std::string_view info) {
    const std::vector<std::string_view> all = replica_lines(info);
    const auto is_online = [](std::string_view line) { return part_of(line, "state") == "online"; };
    return static_cast<std::size_t>(std::ranges::count_if(all, is_online));
}

} // namespace holdfast::redis
