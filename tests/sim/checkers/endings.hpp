// SPDX-License-Identifier: Apache-2.0
// Checker: every operation ends exactly once, in time, and with an outcome that has a reason.
#pragma once

#include "sim/world.hpp"
#include "sync/acquisition_loop.hpp"
#include "sync/lease_validity.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace holdfast::sim {

class endings {
public:
    explicit endings(world& w)
        : world_{w} {}

    void look() {
        for (const auto& [id, o] : world_.books.under_way()) {
            if (world_.clock.now() - o.started_at > longest(o))
                fail(o, "has not ended in time");
            if (acquires(o.what) && o.cancelled_at)
                fail(o, "was cancelled, and did not complete at once");
            if (acquires(o.what) && o.generation != place_of(o).generation)
                fail(o, "still waits for a client that was closed");
        }
    }

    /// Called when a handler was destroyed without being called.
    void dropped(const operation& o) { fail(o, "was never completed"); }

    void completed(const operation& o, outcome how) {
        const duration took = world_.clock.now() - o.started_at;
        if (took > longest(o))
            fail(o, "took too long: " + std::to_string(took.count()) + " ms");
        if (!has_reason(o, how, took))
            fail(o, std::string{"ended with `"} + spelled(how) + "` after " +
                        std::to_string(took.count()) + " ms, for no reason");
        if (acquires(o.what) && how != outcome::overloaded)
            wait_over(o.who.client);
    }

private:
    const seat& place_of(const operation& o) const {
        return world_.seats[static_cast<std::size_t>(o.who.client)];
    }

    duration longest(const operation& o) const {
        const rules& how = world_.how;
        const duration slack = 2 * place_of(o).net.latency() + duration{5};
        const duration answer = how.command_timeout + slack;
        switch (o.what) {
        case deed::lock:
            return duration::max();
        case deed::unlock:
            return how.release_timeout + answer;
        case deed::share: // more replicas may have to confirm the hold
            return world_.replicas.exists() ? answer + how.command_timeout : slack;
        case deed::extend: // an extension is sent at most three times
            return answer + 2 * how.command_timeout;
        case deed::close:
            return how.close_timeout + how.release_timeout + slack;
        case deed::try_lock:
        case deed::try_lock_for:
        case deed::acquire:
        case deed::wait:
        case deed::upgrade:
        case deed::read_beside:
            // If the server quickly answers "late", the attempt is sent once more.
            return o.timeout >= duration::max() / 2 ? duration::max()
                                                    : o.timeout + answer + how.command_timeout / 2;
        default:
            // a change of a counter is sent in the same way as an attempt
            if (changes_counter(o.what))
                return how.unavailable_timeout + answer + how.command_timeout / 2;
            return how.unavailable_timeout + answer;
        }
    }

    bool has_reason(const operation& o, outcome how, duration took) const {
        const seat& place = place_of(o);
        const bool troubled = std::max({place.net.troubled_until(), world_.replicas.last_trouble(),
                                        place.moved_at}) >= o.started_at;
        switch (how) {
        case outcome::done:
            return true;
        case outcome::nothing:
            return o.what == deed::try_lock || took >= o.timeout;
        case outcome::cancelled:
            return o.cancelled_at.has_value();
        case outcome::closed:
            return o.generation != place.generation;
        case outcome::unreachable:
            if (troubled && grants_may_be_late(o, took))
                return true;
            [[fallthrough]];
        case outcome::outcome_unknown:
            if ((o.what == deed::extend || o.what == deed::share) && world_.replicas.exists())
                return true; // if the hold is about to end, the call does not wait for replicas
            return troubled && (!acquires(o.what) || took >= timeout_with_outage(o));
        case outcome::clock_unstable:
            return world_.clock_was_stepped() || world_.rate() != 1 ||
                   world_.replicas.promotions() > 0;
        case outcome::overloaded:
            return place.net.last_want_of_room() >= o.started_at ||
                   (acquires(o.what) && waiting_beside(o) >= world_.how.waiters_max);
        case outcome::refused:
            return place.net.last_denial(o.who.name) >= o.started_at || may_be_unset(o);
        case outcome::lease_lost:
            return !acquires(o.what) || troubled || stands_on_another(o.what);
        case outcome::would_deadlock:
            return o.what == deed::upgrade;
        default:
            return false;
        }
    }

    /// Returns whether three grants in a row may have come later than their leases lasted. A wait
    /// then ends, although the store answers.
    bool grants_may_be_late(const operation& o, duration took) const {
        const duration term = world_.how.given_for(o.lease);
        return o.lease > duration::zero() &&
               took >= sync::late_grants_max * (term - sync::margin(term));
    }

    /// Returns whether the rate limiter may have been deleted.
    bool may_be_unset(const operation& o) const {
        return o.who.name >= 0 && world_.how.counts(o.who.name) == counter_kind::rate &&
               (world_.set_since(o.who.name) >= o.started_at || !world_.is_set(o.who.name));
    }

    /// Returns whether the operation depends on another hold. The other hold may end during the
    /// operation.
    static bool stands_on_another(deed d) { return d == deed::upgrade || d == deed::read_beside; }

    std::size_t waiting_beside(const operation& o) const {
        const auto& calls = world_.books.under_way();
        const auto waits = std::count_if(calls.begin(), calls.end(), [&](const auto& entry) {
            return acquires(entry.second.what) && entry.second.who.client == o.who.client;
        });
        return static_cast<std::size_t>(waits) + over_just_now(o.who.client);
    }

    // Called when a wait ended. A refusal because of too many waiters is reported a moment after
    // the decision. Waits that ended in between are therefore counted too.
    void wait_over(int client) {
        if (std::exchange(over_at_, world_.clock.now()) != world_.clock.now())
            over_.clear();
        ++over_[client];
    }
    std::size_t over_just_now(int client) const {
        const auto found = over_.find(client);
        return over_at_ == world_.clock.now() && found != over_.end() ? found->second : 0;
    }

    duration timeout_with_outage(const operation& o) const {
        return std::min(o.timeout, world_.how.unavailable_timeout);
    }

    void fail(const operation& o, const std::string& what) {
        world_.violated("every operation ends", o.who.name,
                        std::string{spelled(o.what)} + " of client" + std::to_string(o.who.client) +
                            "." + std::to_string(o.who.actor) + ", begun " +
                            std::to_string((world_.clock.now() - o.started_at).count()) +
                            " ms ago, " + what);
    }

    world& world_;
    time_point over_at_{};
    std::map<int, std::size_t> over_; // waits of each client that ended at `over_at_`
};

} // namespace holdfast::sim
