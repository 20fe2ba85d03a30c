// SPDX-License-Identifier: Apache-2.0
#include "redis/survey/replica_lines.hpp"

#include "redis/wire/host.hpp"
#include "redis/wire/info.hpp"

#include <algorithm>
#include <string>

namespace holdfast::redis {
namespace {

/// Returns the value of a field in a line like
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
