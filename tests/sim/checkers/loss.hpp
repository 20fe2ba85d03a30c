// SPDX-License-Identifier: Apache-2.0
// Checker: a client that loses a lock is told. When the lease ends, it is told at that moment. When
// the server took the lock away, it is told by the next contact.
#pragma once

#include "sim/world.hpp"
#include "support/wire_hold_of.hpp"

#include <algorithm>
#include <map>
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

    void sent(const memory::request& r) {
        if (r.what == memory::verb::look)
            asked_at_[world_.text_of(r.holds[0].owner)] = world_.clock.now();
    }

    /// Called when the client knows that the store has lost the hold. The client knows it after a
    /// refusal, or after the lock was released by force.
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
        if (!c.first_seen)
            c.first_seen = world_.clock.now();
        if (c.held.remaining() <= duration{})
            fail(c, "it is believed, and has no time left");
        const seat& home = world_.seats[static_cast<std::size_t>(c.who.client)];
        const bool asks_another = world_.replicas.exists() && !world_.replicas.is_there(home);
        if (world_.seen(c.who.name).shows(c) || asks_another) {
            c.absent_since.reset();
            return;
        }
        if (!c.absent_since)
            c.absent_since = world_.clock.now();
        const network& net = home.net;
        check_moved(c, home);
        const time_point excused = std::max(
            {*c.absent_since, net.troubled_until(), world_.replicas.primary_stood_still()});
        if (!net.cut_off() && world_.clock.now() - excused > noticed_within(c, net))
            fail(c, "the server has forgotten it, and nobody noticed");
        check_asked_anew(c, net);
    }

    /// Checks that a client with a new connection asks about its holds at once. Replies that are in
    /// flight at that moment may be outdated, even a grant.
    void check_asked_anew(const claim& c, const network& net) {
        const duration two_answers = 4 * net.latency() + duration{5};
        const time_point connected = net.connected_at();
        const time_point from = std::max(connected, *c.first_seen);
        const bool was_in_flight =
            asked_at_[c.owner] <= connected && *c.first_seen <= connected + 2 * net.latency();
        if (was_in_flight && *c.absent_since <= from && world_.clock.now() > from + two_answers &&
            net.well_since(connected, c.who.name))
            fail(c, "the server has forgotten it, and whoever is connected anew did not ask");
    }

    /// Checks that a client asks a new primary about all its holds at once after it has heard of
    /// the new primary.
    void check_moved(const claim& c, const seat& home) {
        if (!world_.replicas.exists())
            return;
        const duration two_answers = 4 * home.net.latency() + duration{5};
        const time_point from = std::max({home.moved_at, *c.first_seen, *c.absent_since});
        if (from > home.moved_at + duration{1} || !home.net.well_since(from, c.who.name) ||
            world_.replicas.primary_stood_still() + world_.how.command_timeout > from)
            return;
        if (world_.clock.now() > from + two_answers + 2 * world_.replicas.longest_confirmation())
            fail(c, "another primary does not know of it, and whoever went there did not ask");
    }

    /// Returns the time in which a client must notice a loss. It is a third of the lease (the
    /// interval of renewal requests) and the time of a request that had just failed. An extended
    /// hold is renewed at intervals that fit its longest lease.
    duration noticed_within(const claim& c, const network& net) const {
        const duration longest =
            world_.how.given_for(std::max(c.longest, support::wire_hold_of(c.held).lease()));
        const duration usual = longest / 3 + 4 * net.latency() + duration{5} +
                               2 * world_.replicas.longest_confirmation();
        const bool well = net.well_since(*c.absent_since - longest, c.who.name);
        return well ? usual : usual + longest / 10 + world_.how.command_timeout;
    }

    void fail(const claim& c, const std::string& what) {
        world_.violated("loss is told", c.who.name, c.owner + ": " + what);
    }

    world& world_;
    by_text<time_point> asked_at_; ///< time of the last request, by owner
};

} // namespace holdfast::sim
