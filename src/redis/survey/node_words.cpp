// SPDX-License-Identifier: Apache-2.0
#include "redis/survey/node_words.hpp"

#include "redis/cluster/slot_map.hpp"
#include "redis/wire/number.hpp"

#include <algorithm>
#include <vector>

namespace holdfast::redis {
namespace {

/// Splits a line at its spaces.
std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> all;
    while (!line.empty()) {
        const std::string_view word = line.substr(0, line.find(' '));
        if (!word.empty())
            all.push_back(word);
        line.remove_prefix(std::min(word.size() + 1, line.size()));
    }
    return all;
}

} // namespace

open_slots open_in(std::string_view nodes) {
    open_slots found;
    while (!nodes.empty()) {
        const std::string_view line = nodes.substr(0, nodes.find('\n'));
        nodes.remove_prefix(std::min(line.size() + 1, nodes.size()));
        if (line.find("myself") == line.npos)
            continue;
        for (const std::string_view word : words_of(line)) {
            if (!word.starts_with('['))
                continue;
            const auto slot = number_in<std::uint16_t>(word.substr(1, word.find('-') - 1));
            if (slot && found.count++ == 0)
                found.first = *slot;
        }
    }
    return found;
}

std::optional<dissent> dissent_in(const reply& slots, const server_address& asked,
                                  const slot_map& map) {
    dissent found;
    for (const slot_range& each : read_slots(slots, asked)) {
        if (each.primary.host.empty())
            continue;
        for (std::size_t slot = each.first; slot <= each.last; ++slot) {
            const slot_map::node_number owner = map.owner(static_cast<std::uint16_t>(slot));
            if (owner == slot_map::nobody || map.address(owner) == each.primary)
                continue;
            if (found.slots++ == 0) {
                found.first = static_cast<std::uint16_t>(slot);
                found.named = each.primary;
            }
        }
    }
    return found.slots > 0 ? std::optional{found} : std::nullopt;
}

} // namespace holdfast::redis
