// SPDX-License-Identifier: Apache-2.0
// Descriptions of the nodes of a cluster: the lines of nodes.conf and of CLUSTER NODES.
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
    std::string address{};     ///< for example "127.0.0.1:6379@16379"
    std::string flags{};       ///< for example "myself,master"
    std::string primary = "-"; ///< for a replica, the id of its primary
    std::uint64_t epoch = 0;
    bool is_connected = true; ///< as seen by the node that reports this line
    std::vector<slot_range> slots{};
    std::vector<int> open_slots{}; ///< slots being migrated or imported; a node reports only its
                                   ///< own

    bool is(std::string_view flag) const; ///< "master" matches "myself,master"
    bool has(int slot) const;
    std::string text() const; ///< without the line end
};

std::vector<cluster_line> cluster_lines(const std::string& text);

/// Divides the slots into equal parts.
std::vector<std::vector<slot_range>> slots_shared_out(std::size_t parts);

} // namespace holdfast::support
