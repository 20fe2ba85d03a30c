// SPDX-License-Identifier: Apache-2.0
// Who loses a lock hears of it: when the term ends, at that very moment; when the server took the
// lock away, by the next contact.
#pragma once

#include "sim/world.hpp"

#include <algorithm>
#include <string>

namespace holdfast::sim {

class loss {
public:
    explicit loss(world& w)
        : world_{w} {}

    void look() {
        for (claim* c : world_.books.believed()) {
            if (c->held.owns_lock())
                watch_believer(*c);
            else
                check_told(*c);
        }
    }

    /// Its own client was told that the store has it no more: by a refusal, or since it was forced.
    void known(int name, const std::string& owner) {
        if (world_.books.believed_of(owner))
            world_.violated("loss is told", name,
                            owner + ": its client was told that it is gone, and it is believed");
    }

private:
    void check_told(const claim& c) {
        if (!c.told_lost)
            fail(c, "its term is over, and lost() has not fired");
        if (!c.held.in_danger().stop_requested())
            fail(c, "it is lost, and not in danger");
        if (c.held.remaining() > duration{})
            fail(c, "it holds nothing, but still has time left");
    }

    void watch_believer(claim& c) {
        if (c.held.remaining() <= duration{})
            fail(c, "it is believed, and has no time left");
        if (world_.seen(c.who.name).owner == c.owner) {
            c.absent_since.reset();
            return;
        }
        if (!c.absent_since)
            c.absent_since = world_.clock.now();
        const network& net = world_.seats[static_cast<std::size_t>(c.who.client)].net;
        const time_point excused = std::max(*c.absent_since, net.troubled_until());
        if (!net.cut_off() && world_.clock.now() - excused > noticed_within(c, net))
            fail(c, "the server has forgotten it, and nobody noticed");
    }

    /// A third of the lease between two contacts, and what a contact takes that had just failed.
    duration noticed_within(const claim& c, const network& net) const {
        return c.longest / 3 + c.longest / 10 + world_.how.command_timeout + 4 * net.latency();
    }

    void fail(const claim& c, const std::string& what) {
        world_.violated("loss is told", c.who.name, c.owner + ": " + what);
    }

    world& world_;
};

} // namespace holdfast::sim
