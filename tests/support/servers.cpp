// SPDX-License-Identifier: Apache-2.0
// Which servers the tests run on.
#include "support/redis_server.hpp"

#include <cstdlib>
#include <sstream>
#include <string_view>

namespace holdfast::support {

std::vector<server_binary> servers() {
    const char* listed = std::getenv("HOLDFAST_SERVERS");
    if (listed == nullptr || *listed == '\0')
        return {{"redis", "redis-server"}};
    std::vector<server_binary> all;
    std::istringstream entries{listed};
    for (std::string entry; std::getline(entries, entry, ';');) {
        const std::size_t equals = entry.find('=');
        if (equals == std::string::npos)
            throw std::invalid_argument{"HOLDFAST_SERVERS: no '=' in " + entry};
        all.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
    }
    return all;
}

bool servers_are_required() {
    const char* required = std::getenv("HOLDFAST_REQUIRE_SERVERS");
    return required != nullptr && std::string_view{required} == "1";
}

} // namespace holdfast::support
