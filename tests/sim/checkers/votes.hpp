// SPDX-License-Identifier: Apache-2.0
// A node that was restarted less than the longest lease before it was asked has no vote: it may
// have forgotten to whom it gave the lock.
#pragma once

#include "sim/several/realm.hpp"
#include "sync/tenure.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace holdfast::sim::several {

class votes {
public:
    explicit votes(realm& r)
        : realm_{r} {}

    void sent(const memory::request& r) {
        if (r.what == memory::verb::look)
            asked_.emplace(to_string(r.holds[0].owner), realm_.clock.now());
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
            counting += each.hold->believed() && may_vote(each) ? 1 : 0;
        if (counting < c.needs())
            realm_.violated("votes", c.of.front().name,
                            c.held.owner() + " is believed with " + std::to_string(counting) +
                                " votes of nodes that remember");
    }

    bool may_vote(const share_of_claim& part) const {
        const auto asked = asked_.find(part.owner);
        const duration longest = realm_.how.lease_longest;
        const auto& restarts = realm_.node_at(part.where.server).restarts;
        return asked != asked_.end() &&
               std::none_of(restarts.begin(), restarts.end(), [&](time_point when) {
                   return when <= asked->second && realm_.clock.now() < when + longest;
               });
    }

    realm& realm_;
    std::map<std::string, time_point> asked_; ///< for the first time, by owner
};

} // namespace holdfast::sim::several
