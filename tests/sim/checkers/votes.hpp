// SPDX-License-Identifier: Apache-2.0
// Checker: a node has no vote if it was restarted less than the longest lease before it was asked,
// because it may have forgotten its grants.
#pragma once

#include "sim/several/realm.hpp"
#include "sync/lock_handle.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim::several {

class votes {
public:
    explicit votes(realm& r)
        : realm_{r} {}

    void sent(const memory::request& r) {
        if (r.what != memory::verb::look)
            return;
        std::vector<std::size_t> restarts;
        for (const node& each : realm_.nodes)
            restarts.push_back(each.restarts.size());
        asked_.emplace(to_string(r.holds[0].owner), std::move(restarts));
    }

    void look() {
        for (const claim* const c : realm_.books.claims())
            if (c->how == way::majority && c->held.owns_lock())
                check(*c);
    }

private:
    void check(const claim& c) {
        std::size_t counting = 0;
        for (const share_of_claim& each : c.shares())
            counting += each.hold->is_valid() && may_vote(each) ? 1 : 0;
        if (counting < c.needs())
            realm_.violated("votes", c.of.front().name,
                            c.held.owner() + " is believed with " + std::to_string(counting) +
                                " votes of nodes that remember");
    }

    bool may_vote(const share_of_claim& part) const {
        const auto asked = asked_.find(part.owner);
        if (asked == asked_.end())
            return false;
        const auto server = static_cast<std::size_t>(part.where.server);
        const std::vector<time_point>& all = realm_.nodes[server].restarts;
        const auto before = all.begin() + static_cast<std::ptrdiff_t>(asked->second[server]);
        const duration longest = realm_.how.lease_longest;
        return std::none_of(all.begin(), before,
                            [&](time_point when) { return realm_.clock.now() < when + longest; });
    }

    realm& realm_;
    /// For each owner: how often each node had been restarted at the owner's first request. A time
    /// would not suffice, because a node may be restarted later in the same millisecond.
    std::map<std::string, std::vector<std::size_t>> asked_;
};

} // namespace holdfast::sim::several
