// SPDX-License-Identifier: Apache-2.0
// Chooses the servers on which the tests run.
#include "support/servers.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace holdfast::support {

std::vector<server_binary> servers_in(const char* variable) {
    std::vector<server_binary> all;
    const char* const listed = std::getenv(variable);
    std::istringstream entries{listed == nullptr ? "" : listed};
    for (std::string entry; std::getline(entries, entry, ';');) {
        const std::size_t equals = entry.find('=');
        if (equals == std::string::npos)
            throw std::invalid_argument{std::string{variable} + ": no '=' in " + entry};
        all.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
    }
    return all;
}

std::vector<server_binary> servers() {
    std::vector<server_binary> all = servers_in("HOLDFAST_SERVERS");
    if (all.empty())
        all.push_back({"redis", "redis-server"});
    return all;
}

std::vector<server_binary> newer_servers() {
    return servers_in("HOLDFAST_NEWER_SERVERS");
}

bool servers_are_required() {
    const char* required = std::getenv("HOLDFAST_REQUIRE_SERVERS");
    return required != nullptr && std::string_view{required} == "1";
}

} // namespace holdfast::support
