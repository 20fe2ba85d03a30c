// SPDX-License-Identifier: Apache-2.0
// Checker: if a client believes in a lease, the server shows its owner now, and does not forget it
// before the belief ends.
#pragma once

#include "sim/world.hpp"

#include <string>

namespace holdfast::sim {

class belief {
public:
    explicit belief(world& w)
        : world_{w} {}

    void look() {
        for (const claim* c : world_.books.believed())
            if (world_.promised(*c) && c->held.owns_lock())
                check(*c, world_.seen(c->who.name));
    }

private:
    void check(const claim& c, const sighting& shown) {
        if (!shown.shows(c)) {
            world_.violated("belief", c.who.name,
                            c.owner + " is believed to hold, but the server shows " +
                                (shown.owner.empty() ? "nobody" : shown.owner));
            return;
        }
        // Milliseconds of the server's clock; the server rounds them down.
        const double believed = static_cast<double>(c.held.remaining().count()) * world_.rate();
        const duration left = shown.left_of(c);
        if (believed > static_cast<double>(left.count() + 1))
            world_.violated(
                "belief", c.who.name,
                c.owner + " is believed to hold for " + std::to_string(c.held.remaining().count()) +
                    " ms more, but the server forgets it in " + std::to_string(left.count()));
    }

    world& world_;
};

} // namespace holdfast::sim
