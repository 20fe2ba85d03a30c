// SPDX-License-Identifier: Apache-2.0
// Checker: a renewed lease is kept, and a fixed lease is kept until its end. While the connection
// to the server is good, no renewal fails, no lease ends, and no client is warned. A connection
// that died silently, or a missing permission for another name, is no excuse.
#pragma once

#include "sim/checkers/length.hpp"
#include "sim/world.hpp"
#include "support/wire_hold_of.hpp"

#include <algorithm>
#include <string>

namespace holdfast::sim {

class kept {
public:
    /// Both arguments must outlive the object.
    kept(world& w, const length& of_each)
        : world_{w}
        , lengths_{of_each} {}

    void heard(int client, int generation, const event& e) {
        const seat& home = world_.seats[static_cast<std::size_t>(client)];
        if (generation != home.generation || generation != home.of_program)
            return;
        if (!home.program)
            return; // the client is being destroyed
        const std::string owner = home.program->id() + ":" + std::to_string(e.owner_number);
        for (const claim* c : world_.books.believed()) {
            if (c->owner != owner)
                continue;
            if (world_.replicas.exists() && !world_.replicas.is_there(home))
                return;
            if (e.kind == event_kind::renewal_failed)
                check_failure(*c, home);
            const sync::held_lock& held = support::wire_hold_of(c->held);
            const bool goes_on =
                held.renewed() ? !held.out_of_time() : outlasts_session(*c, home.net);
            if (e.kind == event_kind::in_danger && goes_on && in_time(*c, home.net))
                check_kept(*c, home.net.last_silence(), home, "it is in danger");
            if (e.kind == event_kind::lost && e.cause == event_cause::term_ended && goes_on &&
                has_time(*c, home.net))
                check_kept(*c, survives_silence(*c) ? time_point{} : home.net.last_silence(), home,
                           "its term ended");
            return;
        }
    }

private:
    duration term_of(const claim& c) const {
        return world_.how.given_for(std::max(c.longest, support::wire_hold_of(c.held).lease()));
    }

    /// Returns whether a fixed lease ends later than the session, so that the client asks the
    /// server to keep it. An extension with an unknown outcome does not count.
    bool outlasts_session(const claim& c, const network& net) const {
        const duration lease = support::wire_hold_of(c.held).lease();
        const duration room = duration{5} + lease / 50;
        const time_point now = world_.clock.now();
        return world_.how.by_session() &&
               now > lengths_.asked_at(c) + 4 * net.latency() + duration{5} &&
               now + room < lengths_.asked_first_at(c) + lease;
    }

    /// Returns whether replies arrive early enough that no warning is due. The grant and the first
    /// renewal each take a round trip, which shortens the lease.
    bool in_time(const claim& c, const network& net) const {
        return 4 * net.latency() < term_of(c) / 3;
    }

    /// Returns whether a round trip takes less than half of the lease. Each reply then arrives in
    /// time.
    bool has_time(const claim& c, const network& net) const {
        return 5 * net.latency() <= world_.how.given_for(support::wire_hold_of(c.held).lease());
    }

    /// Returns whether the lease is long enough to give up waiting for a lost reply and to ask
    /// again.
    bool survives_silence(const claim& c) const {
        return world_.how.given_for(support::wire_hold_of(c.held).lease()) >=
               std::chrono::seconds{1};
    }

    /// Returns the last time at which the client may have used another server or at which the
    /// replicas had trouble.
    time_point last_trouble(const seat& home) const {
        return std::max(home.moved_at, world_.replicas.last_trouble());
    }

    void check_failure(const claim& c, const seat& home) {
        // A request without a reply fails at the end of the lease.
        const bool is_over = support::wire_hold_of(c.held).ends_at() <= world_.clock.now();
        if (!is_over && in_time(c, home.net) &&
            home.net.well_since(world_.clock.now(), c.who.name) &&
            last_trouble(home) + world_.how.command_timeout < world_.clock.now())
            fail(c, "a renewal of it failed");
    }

    /// Checks that there was no fault for a long time before the loss. If two callers asked for the
    /// hold, the hold lasts as long as the longer lease.
    void check_kept(const claim& c, time_point excused, const seat& home, const char* what) {
        const network& net = home.net;
        const time_point trouble =
            std::max({excused, net.last_mishap(), net.last_denial(c.who.name), last_trouble(home)});
        if (world_.clock.now() - trouble > term_of(c) + world_.how.command_timeout)
            fail(c, what);
    }

    void fail(const claim& c, const char* what) {
        world_.violated("what is renewed is kept", c.who.name,
                        c.owner + ": " + what + ", and nothing was wrong");
    }

    world& world_;
    const length& lengths_;
};

} // namespace holdfast::sim
