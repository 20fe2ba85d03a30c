// SPDX-License-Identifier: Apache-2.0
// What is renewed is kept: while the way to the server is well, no term of it ends, and nobody is
// warned. A connection that died without a word, or a right that another name lacks, is no excuse.
#pragma once

#include "sim/world.hpp"
#include "sync/wire_hold.hpp"

#include <algorithm>
#include <string>

namespace holdfast::sim {

class kept {
public:
    explicit kept(world& w)
        : world_{w} {}

    void heard(int client, int generation, const event& e) {
        const bool ended = e.kind == event_kind::lost && e.cause == event_cause::term_ended;
        if (!ended && e.kind != event_kind::in_danger)
            return;
        const seat& home = world_.seats[static_cast<std::size_t>(client)];
        for (const claim* c : world_.books.believed()) {
            if (c->who.client != client || generation != home.generation ||
                generation != home.of_program ||
                c->held.hold()->what.owner.number != e.owner_number)
                continue;
            const time_point excused =
                std::max({home.net.last_mishap(), home.net.last_denial(c->who.name),
                          ended ? time_point{} : home.net.last_silence()});
            if (c->held.hold()->renewed() && world_.clock.now() - excused > longest_term(*c))
                world_.violated("what is renewed is kept", c->who.name,
                                c->owner + (ended ? ": its term ended" : ": it is in danger") +
                                    ", and nothing was wrong");
            return;
        }
    }

private:
    /// So long ago trouble must be to be no reason any more. A hold that two asked for has lasted
    /// as the longer of them wanted.
    duration longest_term(const claim& c) const {
        return std::max(c.longest, c.held.hold()->lease()) + world_.how.command_timeout;
    }

    world& world_;
};

} // namespace holdfast::sim
