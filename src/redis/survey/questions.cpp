// SPDX-License-Identifier: Apache-2.0
#include "redis/survey/questions.hpp"

#include "net/address.hpp"
#include "net/failure.hpp"
#include "redis/survey/node_words.hpp"
#include "redis/wire/composer.hpp"
#include "redis/wire/number.hpp"

namespace holdfast::redis {
namespace {

using kind = reply::kind;
using std::chrono::microseconds;

/// Questions, in the order of sending. TIME is sent a second time at the end, because the
/// difference between the two times can show a jump. A jump may mean that a proxy sends the
/// requests to different servers.
enum question : std::size_t {
    first_time,
    of_itself,
    of_files,
    of_replicas,
    of_cluster, // the questions from here on are only for cluster nodes
    of_slots,
    of_nodes,
    of_listeners,
    of_shard_listeners,
};
constexpr std::size_t for_servers = of_cluster, for_nodes = of_shard_listeners + 1;

/// Reads a reply to TIME.
std::optional<microseconds> date_in(const reply& said) {
    if (said.type != kind::array || said.items.size() != 2)
        return std::nullopt;
    const auto seconds = number_in<std::uint32_t>(said.items[0].text);
    const auto rest = number_in<std::uint32_t>(said.items[1].text);
    if (!seconds || !rest)
        return std::nullopt;
    return std::chrono::seconds{*seconds} + microseconds{*rest};
}

/// Error of this client's clock, which counts whole milliseconds.
constexpr duration tick{1};

clock_reading reading_of(microseconds date, const reply& said) {
    return {date - (said.received_at + tick).time_since_epoch(),
            date - said.sent_at.time_since_epoch()};
}

/// Returns whether the server's clock jumped between the two replies to TIME. It jumped if it went
/// back, or if it advanced more than this client's clock did.
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

/// Returns the value that follows a name in a list of names and values.
std::string_view setting_in(const reply& said, std::string_view name) {
    if (said.type != kind::array)
        return {};
    for (std::size_t i = 0; i + 1 < said.items.size(); i += 2)
        if (said.items[i].text == name)
            return said.items[i + 1].text;
    return {};
}

std::optional<bool> any_in(const reply& channels) {
    if (channels.type != kind::array)
        return std::nullopt;
    return !channels.items.empty();
}

void read_node(const std::vector<reply>& said, const server_address& asked, const slot_map& map,
               server_report& told) {
    if (const auto length =
            number_in<std::int64_t>(setting_in(said[of_cluster], "cluster-node-timeout")))
        told.node_timeout = duration{*length};
    const std::string_view migrate =
        setting_in(said[of_cluster], "cluster-allow-replica-migration");
    if (!migrate.empty())
        told.replicas_migrate = migrate == "yes";
    if (said[of_nodes].type == kind::text)
        told.open = open_in(said[of_nodes].text);
    try {
        told.other_view = dissent_in(said[of_slots], asked, map);
    } catch (const net::failure&) { // the code that makes the map reports this error
    }
    told.plain_listeners = any_in(said[of_listeners]);
    told.shard_listeners = any_in(said[of_shard_listeners]);
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
    server_report told{.address = net::address_of(asked)};
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

} // namespace holdfast::redis
