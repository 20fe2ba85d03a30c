// SPDX-License-Identifier: Apache-2.0
// Checker: no two leases of one name are believed in at the same time. Leases that share a hold
// count as one. Readers may read together. A caller that writes on top of its own read hold, or
// reads under its own write hold, has both.
#pragma once

#include "sim/world.hpp"

#include <set>
#include <string>
#include <utility>

namespace holdfast::sim {

/// Written to the trace if two clients believe that they have the lock while exclusion is not
/// promised.
inline constexpr const char* two_believe = "TWO BELIEVE IN IT, after a failover that may lose it";

class exclusion {
public:
    explicit exclusion(world& w)
        : world_{w} {}

    void look() {
        const ledger::claims& all = world_.books.believed();
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t j = i + 1; j < all.size(); ++j)
                compare(*all[i], *all[j]);
    }

private:
    static bool compatible(const claim& one, const claim& other) {
        if (one.reads && other.reads)
            return true;
        const bool of_one_actor =
            one.who.client == other.who.client && one.who.actor == other.who.actor;
        const bool stand_together = one.beside == other.owner || other.beside == one.owner;
        return one.hold == other.hold || (stand_together && of_one_actor);
    }

    void compare(const claim& one, const claim& other) {
        const int name = one.who.name;
        if (name != other.who.name || !one.permits.empty() || compatible(one, other) ||
            !world_.exclusion_promised(name) || !one.held.owns_lock() || !other.held.owns_lock())
            return;
        if (!world_.promised(one) || !world_.promised(other))
            return count(one, other);
        world_.violated("exclusion", name,
                        "two leases are believed at once: " + one.owner + ", and " + other.owner);
    }

    /// Writes to the trace that two clients believe in one lock after a failover, if not all
    /// replicas had to confirm the lock. This must happen in some seeds.
    void count(const claim& one, const claim& other) {
        if (counted_.insert({one.owner, other.owner}).second)
            world_.log.note({.name = one.who.name}, two_believe);
    }

    world& world_;
    std::set<std::pair<std::string, std::string>> counted_;
};

} // namespace holdfast::sim
