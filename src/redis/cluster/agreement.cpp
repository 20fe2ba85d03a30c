// SPDX-License-Identifier: Apache-2.0
#include "redis/cluster/agreement.hpp"

#include "redis/cluster/slot.hpp"

#include <algorithm>

namespace holdfast::redis {
namespace {

/// An answer has no slot twice.
bool knows_all_slots(const slot_ranges& one) {
    std::size_t known = 0;
    for (const slot_range& each : one)
        if (!each.primary.host.empty())
            known += each.last - each.first + std::size_t{1};
    return known == slot_count;
}

bool is_same_for_primaries(const slot_range& one, const slot_range& other) {
    return one.first == other.first && one.last == other.last && one.primary == other.primary;
}

} // namespace

bool most_agree(std::vector<slot_ranges> answers, std::size_t asked) {
    std::erase_if(answers, [](const slot_ranges& each) { return !knows_all_slots(each); });
    for (slot_ranges& each : answers)
        std::sort(each.begin(), each.end(),
                  [](const auto& one, const auto& other) { return one.first < other.first; });
    return std::ranges::any_of(answers, [&](const slot_ranges& one) {
        const auto agree = std::ranges::count_if(answers, [&](const slot_ranges& other) {
            return std::ranges::equal(one, other, is_same_for_primaries);
        });
        return 2 * static_cast<std::size_t>(agree) > asked;
    });
}

} // namespace holdfast::redis
