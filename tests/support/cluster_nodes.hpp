// SPDX-License-Identifier: Apache-2.0
// What nodes of a cluster say of each other: the lines of nodes.conf and of CLUSTER NODES.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::support {

struct slot_range {
    int first = 0, last = 0;
};

struct cluster_line {
    std::string id{};
    std::string address{};     ///< as in "127.0.0.1:6379@16379"
    std::string flags{};       ///< as in "myself,master"
    std::string primary = "-"; ///< of a replica
    std::uint64_t epoch = 0;
    bool is_connected = true; ///< in the eyes of who says it
    std::vector<slot_range> slots{};
    std::vector<int> open_slots{}; ///< on their way here or away; only of itself

    bool is(std::string_view flag) const; ///< "master", and not "myself,master"
    bool has(int slot) const;
    std::string text() const; ///< without its end
};

std::vector<cluster_line> cluster_lines(const std::string& text);

/// So many equal parts.
std::vector<std::vector<slot_range>> slots_shared_out(std::size_t parts);

} // namespace holdfast::support
