// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/slots_answer.hpp"

#include "net/failure.hpp"
#include "redis/cluster/slot.hpp"
#include "redis/wire/classify.hpp"
#include "redis/wire/host.hpp"
#include "redis/wire/rights.hpp"

#include <bitset>
#include <string>
#include <string_view>

namespace holdfast::redis {
namespace {

/// A range in the reply is `[first, last, node, node…]`. The primary comes before its replicas.
constexpr std::size_t words_before_nodes = 2;

[[noreturn]] void no_sense(const std::string& what) {
    throw net::failure{store_errc::protocol, "CLUSTER SLOTS tells " + what};
}

std::int64_t number_up_to(std::int64_t most, const reply& said, const char* what) {
    if (said.type != reply::kind::integer)
        no_sense("of " + std::string{what} + " that is no number");
    if (said.integer < 0 || said.integer > most)
        no_sense("of " + std::string{what} + " " + std::to_string(said.integer));
    return said.integer;
}

std::uint16_t slot_in(const reply& said) {
    return static_cast<std::uint16_t>(number_up_to(slot_count - 1, said, "the slot"));
}

/// Returns another host name or address of a node. `name` selects the kind, for example `ip`. Since
/// 7.0, pairs of a name and a value follow the host, port and id of a node.
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

/// Returns the host of a node. An empty host means the host that was asked. `?` means that the node
/// should have a host name but has none. In that case the function returns the node's `ip`.
std::string host_in(const reply& node, const server_address& asked) {
    const reply& said = node.items[0];
    if (said.type != reply::kind::nil && said.type != reply::kind::text)
        no_sense("of a host that is no text");
    if (said.text.empty())
        return asked.host;
    if (said.text == "?") {
        const std::string_view address = known_too_as(node, "ip");
        return address.empty() ? asked.host : std::string{address};
    }
    if (!is_host_beside(said.text, asked.host))
        no_sense("of a host that cannot be one");
    return said.text;
}

/// Returns the address of a node. Port 0 means that the node has moved and was not found again. In
/// that case the result has no host.
server_address node_in(const reply& node, const server_address& asked) {
    if (node.type != reply::kind::array || node.items.size() < 2)
        no_sense("of a node that has no host and port");
    const auto port = static_cast<std::uint16_t>(number_up_to(65535, node.items[1], "the port"));
    std::string host = host_in(node, asked);
    return port == 0 ? server_address{} : server_address{std::move(host), port};
}

/// Returns the id of a node. The id is the third item, since version 4.0.
std::string id_in(const reply& node) {
    constexpr std::size_t place = 2;
    return node.items.size() > place ? node.items[place].text : std::string{};
}

slot_range range_in(const reply& said, const server_address& asked) {
    if (said.type != reply::kind::array || said.items.size() <= words_before_nodes)
        no_sense("of slots without a node");
    slot_range range;
    range.first = slot_in(said.items[0]);
    range.last = slot_in(said.items[1]);
    if (range.first > range.last)
        no_sense("of slots from " + std::to_string(range.first) + " to " +
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
        no_sense("no list");
    slot_ranges all;
    std::bitset<slot_count> seen;
    for (const reply& one : said.items) {
        all.push_back(range_in(one, asked));
        for (std::size_t slot = all.back().first; slot <= all.back().last; ++slot) {
            if (seen[slot])
                no_sense("twice of the slot " + std::to_string(slot));
            seen.set(slot);
        }
    }
    return all;
}

} // namespace holdfast::redis
