// SPDX-License-Identifier: Apache-2.0
#include "support/server_info.hpp"

#include <cstdlib>
#include <sstream>

namespace holdfast::support {

std::string info_of(redis_server& server, const std::string& section, const std::string& field) {
    std::istringstream lines{server.command({"INFO", section}).text};
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(field + ":"))
            return line.substr(field.size() + 1, line.find('\r') - field.size() - 1);
    return {};
}

bool is_primary(redis_server& server) {
    return info_of(server, "replication", "role") == "master";
}

long long offset_of(redis_server& server) {
    const char* const field = is_primary(server) ? "master_repl_offset" : "slave_repl_offset";
    return std::strtoll(info_of(server, "replication", field).c_str(), nullptr, 10);
}

bool is_in_sync(redis_server& replica, long long offset) {
    return info_of(replica, "replication", "master_link_status") == "up" &&
           offset_of(replica) >= offset;
}

int replicas_online(redis_server& server) {
    const std::string text = server.command({"INFO", "replication"}).text;
    const std::string sign = "state=online";
    int count = 0;
    for (std::size_t at = text.find(sign); at != text.npos; at = text.find(sign, at + 1))
        ++count;
    return count;
}

} // namespace holdfast::support
