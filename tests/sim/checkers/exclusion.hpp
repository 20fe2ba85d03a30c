// SPDX-License-Identifier: Apache-2.0
// No two leases of one name are believed at once. Leases that share a hold count as one.
#pragma once

#include "sim/world.hpp"

namespace holdfast::sim {

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
    void compare(const claim& one, const claim& other) {
        const int name = one.who.name;
        if (name != other.who.name || one.hold == other.hold || !world_.exclusion_promised(name) ||
            !one.held.owns_lock() || !other.held.owns_lock())
            return;
        world_.violated("exclusion", name,
                        "two leases are believed at once: " + one.owner + ", and " + other.owner);
    }

    world& world_;
};

} // namespace holdfast::sim
