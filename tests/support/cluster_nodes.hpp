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
    std::string primary = "-"; ///< id of a replica's primary; "-" for a primary
    std::uint64_t epoch = 0;
    bool is_connected = true; ///< whether the reporting node is connected to this node
    std::vector<slot_range> slots{};
    /// slots that are being migrated or imported; only in a node's line about itself
    std::vector<int> open_slots{};

    /// whether the node has this flag; "master" matches "myself,master"
    bool is(std::string_view flag) const;
    bool has(int slot) const;
    std::string text() const; ///< the line as text, without the line end
};

std::vector<cluster_line> cluster_lines(const std::string& text);

/// Divides all slots into `parts` equal ranges.
std::vector<std::vector<slot_range>> slots_shared_out(std::size_t parts);

} // namespace holdfast::support
