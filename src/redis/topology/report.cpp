// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/report.hpp"

#include "net/failure.hpp"
#include "redis/client/error_replies.hpp"

#include <algorithm>

namespace holdfast::redis {
namespace {

/// Returns the value that follows a name in a list of names and values. The result is empty if the
/// name is missing.
std::string_view field_in(const reply& pairs, std::string_view name) {
    for (std::size_t i = 0; i + 1 < pairs.items.size(); i += 2)
        if (pairs.items[i].text == name)
            return pairs.items[i + 1].text;
    return {};
}

std::optional<std::uint64_t> count_in(const reply& pairs, std::string_view name) {
    return number_in<std::uint64_t>(field_in(pairs, name));
}

/// Returns whether a word is in a list of words separated by commas.
bool is_flagged(std::string_view flags, std::string_view one) {
    while (!flags.empty()) {
        const std::string_view flag = flags.substr(0, flags.find(','));
        if (flag == one)
            return true;
        flags.remove_prefix(std::min(flag.size() + 1, flags.size()));
    }
    return false;
}

std::optional<server_address> address_of_texts(std::string_view host, std::string_view port) {
    const auto number = read_port(port);
    if (!number || !is_host(host))
        return std::nullopt;
    return server_address{std::string{host}, *number};
}

/// Removes the last word and returns it.
std::string_view take_last(std::string_view& words) {
    const std::size_t blank = words.rfind(' ');
    const std::string_view last = words.substr(blank == words.npos ? 0 : blank + 1);
    words = words.substr(0, blank == words.npos ? 0 : blank);
    return last;
}

[[noreturn]] void refused_by_sentinel(const std::string& words) {
    if (words.starts_with("ERR unknown command"))
        throw net::failure{classify(words), "the server there is not a Sentinel (" + words + ")"};
    throw net::failure{classify(words), words};
}

/// Reads the reply to SENTINEL REPLICAS: one list of names and values for each replica.
std::optional<std::vector<server_address>> read_replicas(const reply& said) {
    const auto is_list = [](const reply& each) { return each.type == reply::kind::array; };
    if (!is_list(said) || !std::ranges::all_of(said.items, is_list))
        return std::nullopt;
    std::vector<server_address> all;
    for (const reply& each : said.items)
        if (auto where = address_of_texts(field_in(each, "ip"), field_in(each, "port")))
            all.push_back(std::move(*where));
    return all;
}

} // namespace

void ask_sentinel(composer out, std::string_view service) {
    out.request({"SENTINEL", "MASTER", service});
    out.request({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", service});
    out.request({"SENTINEL", "REPLICAS", service});
}

std::optional<service_facts> read_service(const reply& said) {
    const auto primary = address_of_texts(field_in(said, "ip"), field_in(said, "port"));
    if (said.type != reply::kind::array || !primary)
        return std::nullopt;
    const std::string_view flags = field_in(said, "flags");
    service_facts told{.primary = *primary,
                       .epoch = count_in(said, "config-epoch"),
                       .down = is_flagged(flags, "s_down") || is_flagged(flags, "o_down"),
                       .failover_in_progress = is_flagged(flags, "failover_in_progress"),
                       .down_after = {},
                       .replicas = count_in(said, "num-slaves"),
                       .other_sentinels = count_in(said, "num-other-sentinels"),
                       .quorum = count_in(said, "quorum")};
    constexpr auto longest = static_cast<std::uint64_t>(duration::max().count());
    if (const auto timeout = count_in(said, "down-after-milliseconds"))
        told.down_after = duration{static_cast<duration::rep>(std::min(*timeout, longest))};
    return told;
}

sentinel_answer read_sentinel(const reply& service, const reply& address, const reply& replicas) {
    if (address.type == reply::kind::error)
        refused_by_sentinel(address.text);
    if (address.type == reply::kind::nil)
        return {};
    sentinel_answer told;
    if (address.type == reply::kind::array && address.items.size() == 2)
        told.primary = address_of_texts(address.items[0].text, address.items[1].text);
    if (!told.primary)
        throw net::failure{store_errc::protocol,
                           "SENTINEL GET-MASTER-ADDR-BY-NAME returned no host and port"};
    if (const auto facts = read_service(service)) {
        told.epoch = facts->epoch;
        told.down = facts->down && facts->primary == *told.primary;
    }
    told.replicas = read_replicas(replicas);
    return told;
}

void hear_of_switches(composer out) {
    out.request({"SUBSCRIBE", switch_channel});
}

// The message is `service host port host port`. Read it from its end, because the name of a service
// may contain spaces.
std::optional<primary_switch> read_switch(std::string_view message, std::string_view service) {
    const std::string_view new_port = take_last(message), new_host = take_last(message);
    const std::string_view old_port = take_last(message), old_host = take_last(message);
    const auto from = address_of_texts(old_host, old_port);
    const auto to = address_of_texts(new_host, new_port);
    if (message != service || !from || !to)
        return std::nullopt;
    return primary_switch{*from, *to};
}

namespace {

/// Returns the value of a field in a line such as
/// `ip=127.0.0.1,port=6380,state=online,offset=14,lag=0`.
std::string_view part_of(std::string_view replica, std::string_view name) {
    while (!replica.empty()) {
        const std::string_view part = replica.substr(0, replica.find(','));
        replica.remove_prefix(std::min(part.size() + 1, replica.size()));
        if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=')
            return part.substr(name.size() + 1);
    }
    return {};
}

/// Returns the lines `slave0:…`, `slave1:…` of INFO, one for each replica.
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
