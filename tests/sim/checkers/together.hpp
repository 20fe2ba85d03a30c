// SPDX-License-Identifier: Apache-2.0
// Checker: a lease of several locks is worth as much as its parts. While a client believes in it,
// each server that it needs shows its owner, and does not forget it before the belief ends. No
// other client believes in the same lock. A client that loses a needed part is told.
#pragma once

#include "sim/several/realm.hpp"
#include "support/wire_hold_of.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::sim::several {

class together {
public:
    explicit together(realm& r)
        : realm_{r} {}

    /// Called for a grant. The lock may be released by force before the caller gets it. The caller
    /// then hears of the loss: at once for a single lock, soon for several locks (see
    /// check_told()). If the acquisition of several locks took longer than their lease, it must not
    /// succeed, unless a server had a fault.
    void granted(const claim& c) {
        const auto is_well = [this](spot where) { return realm_.is_well(where); };
        const bool taken_away =
            c.is_joint() ? !std::ranges::all_of(c.of, is_well) : c.held.lost().stop_requested();
        if (c.held.remaining() <= duration{} && !taken_away && !realm_.is_closed(c))
            fail(c, "is granted, and not believed");
    }

    /// Checks that no two callers believe in leases of the same lock at the same time. (A quorum
    /// may leave a minority of the servers to other callers.)
    void compare_all() {
        const std::vector<claim*>& all = realm_.books.claims();
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t j = i + 1; j < all.size(); ++j)
                compare(*all[i], *all[j]);
    }

    void look() {
        for (claim* const c : realm_.books.claims())
            if (c->held.owns_lock())
                check_believer(*c);
            else
                check_told(*c);
    }

    /// Called for a loss. A renewed lease must not be lost without a fault.
    void lost(const claim& c) {
        if (c.held.remaining() > duration{})
            fail(c, "is lost, and has time left");
        if (c.is_joint() && c.held.hold()->renewed() && !realm_.is_closed(c) && !has_excuse(c))
            fail(c, "is lost, and nothing was wrong");
    }

private:
    void compare(const claim& one, const claim& other) {
        const bool is_quorum = one.how == way::majority;
        if (is_quorum != (other.how == way::majority) || one.hold == other.hold)
            return;
        for (const spot where : one.of) {
            if (std::find(other.of.begin(), other.of.end(), where) == other.of.end())
                continue;
            const bool promised =
                is_quorum ? realm_.quorum_promised(where.name) : realm_.is_well(where);
            if (promised && one.held.owns_lock() && other.held.owns_lock())
                realm_.violated("exclusion", where.name,
                                "two leases are believed at once: " + one.held.owner() + ", and " +
                                    other.held.owner());
            if (is_quorum)
                return;
        }
    }

    void check_believer(claim& c) {
        const duration left = c.held.remaining();
        std::size_t kept = 0, shown = 0;
        for (const share_of_claim& each : c.shares()) {
            const sighting& now = realm_.seen(each.where);
            const bool is_there = now.shows(each.owner);
            shown += is_there ? 1 : 0;
            const bool outlasts = now.remaining + duration{1} >= left - left / 100;
            kept += !realm_.is_well(each.where) || (is_there && outlasts) ? 1 : 0;
        }
        if (kept < c.needs())
            fail(c, "is believed for " + std::to_string(left.count()) + " ms more, and " +
                        std::to_string(kept) + " of " + std::to_string(c.needs()) +
                        " servers show it for so long");
        check_noticed(c, shown);
    }

    /// Checks that a loss is noticed in time. The limit is a third of the lease (the interval of
    /// renewal requests) and the time of a request that had just failed.
    void check_noticed(claim& c, std::size_t shown) {
        const time_point now = realm_.clock.now();
        if (shown >= c.needs()) {
            c.absent_since.reset();
            return;
        }
        if (!c.absent_since)
            c.absent_since = now;
        duration longest = std::max(c.longest, realm_.how.lease_time);
        duration latency{};
        time_point since = *c.absent_since;
        for (const spot where : c.of) {
            const network& net = realm_.at(c.program, where.server).net;
            if (net.cut_off())
                return;
            latency = std::max(latency, net.latency());
            since = std::max(since, net.troubled_until());
        }
        const duration within =
            longest / 3 + longest / 10 + realm_.how.command_timeout + 6 * latency + duration{10};
        if (now - since > within)
            fail(c, "is believed, the servers have forgotten it, and nobody noticed");
    }

    void check_told(const claim& c) {
        if (!c.told_lost)
            fail(c, "is over, and lost() has not fired");
        if (!c.held.in_danger().stop_requested())
            fail(c, "is lost, and not in danger");
    }

    bool has_excuse(const claim& c) const {
        const time_point now = realm_.clock.now();
        const duration felt =
            std::max(c.longest, realm_.how.lease_longest) + 2 * realm_.how.command_timeout;
        const bool is_short = std::any_of(c.of.begin(), c.of.end(), [&](spot where) {
            const network& net = realm_.at(c.program, where.server).net;
            return 4 * net.latency() >= realm_.how.lease_time / 4;
        });
        return is_short || std::any_of(c.of.begin(), c.of.end(), [&](spot where) {
                   const network& net = realm_.at(c.program, where.server).net;
                   return !realm_.is_well(where) || net.cut_off() ||
                          now - net.last_mishap() <= felt;
               });
    }

    void fail(const claim& c, const std::string& what) {
        realm_.violated("together", c.of.front().name, c.held.owner() + " " + what);
    }

    realm& realm_;
};

} // namespace holdfast::sim::several
