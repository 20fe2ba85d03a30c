// SPDX-License-Identifier: Apache-2.0
// Checkers of leases: that a client believes in a lease for no longer than the server keeps it,
// that no lease is lost without a reason, and that a loss is reported.
#pragma once

#include "sim/world.hpp"
#include "support/holds.hpp"
#include "sync/renewal.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace holdfast::sim {

/// Checker: while a client believes that it holds a lease, the server shows it as the owner, and
/// will do so until the lease ends.
class belief {
public:
    explicit belief(world& w)
        : world_{w} {}

    void look() {
        for (const claim* c : world_.books.believed())
            if (world_.promised(*c) && c->is_believed)
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
        // In milliseconds of the server's clock, which rounds down.
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

/// Checker: no client believes in a lease for longer than it asked for, counted from its last
/// request. This is not obvious for a store whose holds last as long as the session.
class length {
public:
    explicit length(world& w)
        : world_{w} {}

    void sent(const memory::request& r) {
        if (!world_.how.by_session() || r.lease_time == duration{})
            return;
        for (const hold& each : r.holds) {
            const std::string& owner = world_.text_of(each.owner);
            note_first(r, owner);
            began_[owner] = world_.clock.now();
            time_point& until = until_[owner];
            until = std::max(until, world_.clock.now() + r.lease_time);
        }
    }

    void granted(const claim& c) {
        if (world_.how.by_session())
            inherited_[&c] = world_.clock.now();
    }

    void look() const {
        if (!world_.how.by_session())
            return;
        for (const claim* c : world_.books.believed())
            if (c->is_believed && world_.clock.now() > end_of(*c))
                world_.violated("leases end as asked", c->who.name,
                                c->owner + " is believed to hold for longer");
    }

    /// Returns the time of the last request for the lease.
    time_point asked_at(const claim& c) const {
        const auto asked = began_.find(c.owner);
        return asked == began_.end() ? time_point{} : asked->second;
    }

    /// Returns the time from which the client counts the lease. It is the time of the last request;
    /// if that request repeats one that came too late, it is the time of the first of them.
    /// Extensions do not count, because an extension with an unknown outcome does not prolong the
    /// lease.
    time_point asked_first_at(const claim& c) const {
        const auto asked = first_.find(c.owner);
        return asked == first_.end() ? time_point{} : asked->second;
    }

private:
    void note_first(const memory::request& r, const std::string& owner) {
        const time_point now = world_.clock.now();
        const auto last = began_.find(owner);
        const bool looks = r.what == memory::verb::look;
        const bool repeats =
            last != began_.end() && now <= last->second + world_.how.command_timeout;
        if ((looks && !repeats) || last == began_.end()) // an extension may fail
            first_[owner] = now;
    }

    time_point end_of(const claim& c) const {
        const duration lease = std::max(c.longest, support::wire_hold_of(c.held).lease());
        const auto inherited = inherited_.find(&c);
        const time_point from =
            std::max(asked_at(c), inherited == inherited_.end() ? time_point{} : inherited->second);
        const auto until = until_.find(c.owner); // a shorter extension does not shorten the lease
        return std::max(from + lease, until == until_.end() ? time_point{} : until->second);
    }

    world& world_;
    by_text<time_point> began_; ///< time of the last request, by owner; the next maps also have
                                ///< owners as keys
    by_text<time_point> first_; ///< time of the last request that repeats no other
    by_text<time_point> until_; ///< end of the longest requested lease
    std::map<const claim*, time_point> inherited_;
};

/// Checker: without a fault, no renewal fails, no renewed lease ends, no fixed lease ends early,
/// and no client is warned. A connection that died silently, or a missing permission for another
/// lock, is no excuse.
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
            if (e.kind == event_kind::in_danger && goes_on && !is_first_renewal(*c, home.net) &&
                in_time(*c, home.net))
                check_kept(*c, home.net.last_silence(), home, "it is in danger");
            if (e.kind == event_kind::lost && e.cause == event_cause::term_ended && goes_on &&
                has_time(*c, home.net))
                check_kept(*c,
                           survives_silence(*c, home.net) ? time_point{} : home.net.last_silence(),
                           home, "its term ended");
            return;
        }
    }

private:
    /// Returns whether a hold with a fixed lease is renewed only since a short time. So little of
    /// its lease may be left that it is in danger until the first renewal has got its reply.
    bool is_first_renewal(const claim& c, const network& net) const {
        return world_.clock.now() <= c.renewed_from + 4 * net.latency() + duration{5};
    }

    duration term_of(const claim& c) const {
        return world_.how.given_for(std::max(c.longest, support::wire_hold_of(c.held).lease()));
    }

    /// Returns whether a fixed lease ends later than the session, so that the client must send
    /// requests to keep it.
    bool outlasts_session(const claim& c, const network& net) const {
        const duration lease = support::wire_hold_of(c.held).lease();
        const duration room = duration{5} + lease / 50;
        const time_point now = world_.clock.now();
        return world_.how.by_session() &&
               now > lengths_.asked_at(c) + 4 * net.latency() + duration{5} &&
               now + room < lengths_.asked_first_at(c) + lease;
    }

    /// Returns whether replies arrive so early that the client need not warn its caller that the
    /// lease is in danger.
    bool in_time(const claim& c, const network& net) const {
        return 4 * net.latency() < term_of(c) / 3;
    }

    /// Returns whether round trips are short enough that each reply arrives before the lease ends.
    bool has_time(const claim& c, const network& net) const {
        return 5 * net.latency() <= world_.how.given_for(support::wire_hold_of(c.held).lease());
    }

    /// Returns whether the lease is long enough to stop waiting for a lost reply and to ask again,
    /// and no limit of the client has prevented this.
    bool survives_silence(const claim& c, const network& net) const {
        const bool found_room = net.last_want_of_room() + term_of(c) < world_.clock.now();
        return found_room && world_.how.given_for(support::wire_hold_of(c.held).lease()) >=
                                 std::chrono::seconds{1};
    }

    /// Returns the last time at which the client moved to another server or a replica had a fault.
    time_point last_trouble(const seat& home) const {
        return std::max(home.moved_at, world_.replicas.last_trouble());
    }

    void check_failure(const claim& c, const seat& home) {
        // A request without a reply fails at the end of the lease. A later reply may have moved
        // this end a little.
        const bool is_over = support::wire_hold_of(c.held).ends_at() <=
                             world_.clock.now() + world_.how.lease_time / 10 + home.net.latency();
        if (!is_over && in_time(c, home.net) &&
            home.net.well_since(world_.clock.now(), c.who.name) &&
            last_trouble(home) + world_.how.command_timeout < world_.clock.now())
            fail(c, "a renewal of it failed");
    }

    /// Checks that there was a fault before the loss. Without one, the hold would have lasted for
    /// the longest lease that a caller asked for.
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

/// Checker: a holder is told of the loss of its lock: at once when the lease ends, and with the
/// next renewal if the server has taken the lock away.
class loss {
public:
    explicit loss(world& w)
        : world_{w} {}

    void look() {
        for (claim* c : world_.books.believed()) {
            if (c->is_believed)
                watch_believer(*c);
            else
                check_told(*c);
        }
    }

    void sent(const memory::request& r) {
        if (r.what == memory::verb::look)
            asked_at_[world_.text_of(r.holds[0].owner)] = world_.clock.now();
    }

    /// Called when the client learns that the server no longer has its hold. The holder must be
    /// told already.
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

    /// Checks that a client asks about its holds at once after it has connected again.
    void check_asked_anew(const claim& c, const network& net) {
        const duration two_answers = 4 * net.latency() + duration{5};
        const time_point connected = net.connected_at();
        const time_point from = std::max(connected, *c.first_seen);
        const bool was_in_flight =
            asked_at_[c.owner] <= connected && *c.first_seen <= connected + 2 * net.latency();
        const duration was_left = c.held.remaining() + (world_.clock.now() - from);
        const bool ended_soon = was_left <= last_silence(c);
        if (was_in_flight && !ended_soon && *c.absent_since <= from &&
            world_.clock.now() > from + two_answers && net.well_since(connected, c.who.name))
            fail(c, "the server has forgotten it, and whoever is connected anew did not ask");
    }

    /// Checks that a client asks a new primary about all its holds as soon as it knows of it.
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

    /// Returns the time within which a client must notice a loss: a third of the longest lease (the
    /// interval of renewals), and the time of a request that may have failed just before. A read
    /// hold needs longer, because it is not renewed just before its lease ends.
    duration noticed_within(const claim& c, const network& net) const {
        const duration longest =
            world_.how.given_for(std::max(c.longest, support::wire_hold_of(c.held).lease()));
        const duration usual = longest / 3 + last_silence(c) + 4 * net.latency() + duration{5} +
                               2 * world_.replicas.longest_confirmation();
        const bool well = net.well_since(*c.absent_since - longest, c.who.name);
        return well ? usual : usual + longest / 10 + world_.how.command_timeout;
    }

    /// Returns for how long before the end of its lease the client no longer asks about the hold.
    /// Only read holds with a fixed lease have such a time.
    static duration last_silence(const claim& c) {
        const bool is_renewed = support::wire_hold_of(c.held).renewed();
        return c.reads && !is_renewed ? sync::renewal::read_request_min : duration::zero();
    }

    void fail(const claim& c, const std::string& what) {
        world_.violated("loss is told", c.who.name, c.owner + ": " + what);
    }

    world& world_;
    by_text<time_point> asked_at_; ///< time of the last request, by owner
};

} // namespace holdfast::sim
