// SPDX-License-Identifier: Apache-2.0
// Checker: even if holds last as long as a session, a lease ends. No client believes in it for
// longer than it asked for. The time counts from the last request or hand-over.
#pragma once

#include "sim/world.hpp"
#include "support/wire_hold_of.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace holdfast::sim {

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
            if (c->held.owns_lock() && world_.clock.now() > end_of(*c))
                world_.violated("leases end as asked", c->who.name,
                                c->owner + " is believed to hold for longer");
    }

    /// Returns the time of the last request for the lease, whatever length it asked for.
    time_point asked_at(const claim& c) const {
        const auto asked = began_.find(c.owner);
        return asked == began_.end() ? time_point{} : asked->second;
    }

    /// Returns the time of the last request for the lease. Returns an earlier time if that request
    /// may have been a repetition. If the server gets an attempt after its deadline, it answers
    /// "late". The client then repeats the attempt at once, and counts the lease from the time of
    /// the first attempt. Extensions do not count here, because an extension with an unknown
    /// outcome does not prolong the lease.
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
    by_text<time_point> began_; ///< times by owner; the next two maps too
    by_text<time_point> first_; ///< times without repetitions
    by_text<time_point> until_; ///< end of the longest lease that was requested
    std::map<const claim*, time_point> inherited_;
};

} // namespace holdfast::sim
