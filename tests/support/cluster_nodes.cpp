// SPDX-License-Identifier: Apache-2.0
#include "support/cluster_nodes.hpp"

#include <algorithm>
#include <sstream>

namespace holdfast::support {
namespace {

constexpr int slot_count = 16'384;

/// Parses the slots in a line of CLUSTER NODES: "5", "0-5461", or "[93->-292f8b…". The last form is
/// a slot that is being migrated or imported.
void read_slots(cluster_line& into, const std::string& word) {
    if (word.starts_with('[')) {
        into.open_slots.push_back(std::stoi(word.substr(1)));
        return;
    }
    const std::size_t dash = word.find('-');
    const int first = std::stoi(word);
    into.slots.push_back({first, dash == word.npos ? first : std::stoi(word.substr(dash + 1))});
}

} // namespace

bool cluster_line::is(std::string_view flag) const {
    return ("," + flags + ",").find("," + std::string{flag} + ",") != std::string::npos;
}

bool cluster_line::has(int slot) const {
    return std::ranges::any_of(
        slots, [slot](slot_range each) { return each.first <= slot && slot <= each.last; });
}

std::string cluster_line::text() const {
    std::string line = id + " " + address + " " + flags + " " + primary + " 0 0 " +
                       std::to_string(epoch) + " connected";
    for (const slot_range each : slots)
        line += " " + std::to_string(each.first) + "-" + std::to_string(each.last);
    return line;
}

std::vector<cluster_line> cluster_lines(const std::string& text) {
    std::vector<cluster_line> all;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        cluster_line read;
        std::string pinged, heard, link;
        words >> read.id >> read.address >> read.flags >> read.primary >> pinged >> heard >>
            read.epoch >> link;
        read.is_connected = link == "connected";
        for (std::string slots; words >> slots;)
            read_slots(read, slots);
        all.push_back(read);
    }
    return all;
}

std::vector<std::vector<slot_range>> slots_shared_out(std::size_t parts) {
    std::vector<std::vector<slot_range>> all;
    const int count = static_cast<int>(parts);
    for (int i = 0; i < count; ++i)
        all.push_back({{slot_count * i / count, slot_count * (i + 1) / count - 1}});
    return all;
}

} // namespace holdfast::support
