// SPDX-License-Identifier: Apache-2.0
#include "store/zookeeper/order.hpp"

#include <algorithm>

namespace holdfast::zookeeper {
namespace {

bool waits_for(bool shares, const contender& other) {
    return !shares || !other.shares;
}

} // namespace

standing standing_of(const std::vector<std::string>& children, std::string_view mine,
                     std::string_view aside) {
    const std::vector<contender> all = contenders_in(children);
    const auto me = std::ranges::find(all, mine, &contender::node);
    standing found;
    if (me == all.end())
        return found;
    found.there = true;
    bool after_aside = false;
    for (auto each = all.begin(); each != me; ++each) {
        if (each->node == aside) {
            after_aside = true;
            continue;
        }
        if (each->number == me->number || !waits_for(me->shares, *each))
            continue; // our own node, or both nodes are readers
        found.behind = each->node;
        found.conflict = found.conflict || (after_aside && !each->shares);
    }
    found.first = found.behind.empty();
    return found;
}

bool is_taken(const std::vector<std::string>& children, bool shares, std::string_view aside) {
    return std::ranges::any_of(children, [&](const std::string& each) {
        const std::optional<contender> other = contender_at(each);
        return other && other->node != aside && waits_for(shares, *other);
    });
}

std::vector<contender> holders_among(const std::vector<contender>& in_order) {
    std::vector<contender> holders;
    for (const contender& each : in_order) {
        const bool beside = !holders.empty() && each.number == holders.front().number;
        if (!holders.empty() && !beside && (!each.shares || !holders.front().shares))
            break;
        holders.push_back(each);
    }
    return holders;
}

} // namespace holdfast::zookeeper
