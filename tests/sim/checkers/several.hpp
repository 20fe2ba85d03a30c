// SPDX-License-Identifier: Apache-2.0
// Checkers of a simulation with several servers.
#pragma once

#include "sim/several/realm.hpp"
#include "support/holds.hpp"
#include "sync/lock_handle.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim::several {

/// Checker: every operation on several locks ends exactly once, in time, and with an error only if
/// there is a reason for it. A call that waits for locks takes them when all of them are free.
class deals {
public:
    explicit deals(realm& r)
        : realm_{r} {}

    void look() {
        for (const auto& [id, d] : realm_.books.under_way()) {
            if (age(d) > longest(d))
                fail(d, "has not ended in time");
            if (acquires(d.what) && d.cancelled_at)
                fail(d, "was cancelled, and did not complete at once");
            check_progress(id, d);
        }
        std::erase_if(free_since_, [&](const auto& entry) {
            return !realm_.books.under_way().contains(entry.first);
        });
    }

    /// Called when a handler was destroyed without being called.
    void dropped(const deal& d) { fail(d, "was never completed"); }

    void completed(const deal& d, outcome how) {
        if (age(d) > longest(d))
            fail(d, "took too long");
        if (!has_reason(d, how))
            fail(d, std::string{"ended with `"} + spelled(how) + "`, for no reason");
    }

private:
    duration age(const deal& d) const { return realm_.clock.now() - d.started_at; }

    template <typename Predicate>
    bool any_terminal(const deal& d, Predicate p) const {
        return std::any_of(d.of.begin(), d.of.end(),
                           [&](spot where) { return p(realm_.at(d.program, where.server)); });
    }
    bool troubled(const deal& d) const {
        return any_terminal(
            d, [&](const terminal& t) { return t.net.troubled_until() >= d.started_at; });
    }
    bool closed(const deal& d) const {
        return any_terminal(d, [&](const terminal& t) {
            return t.generation != d.generations[static_cast<std::size_t>(t.server)];
        });
    }
    duration latency(const deal& d) const {
        return realm_.at(d.program, d.of.front().server).net.latency();
    }

    /// Returns the longest allowed duration of an operation. An attempt that begins just before the
    /// timeout still ends, and releases its locks.
    duration longest(const deal& d) const {
        const rules& how = realm_.how;
        const duration slack = 12 * latency(d) + duration{20};
        constexpr duration executor_timeout{1000};
        const duration answers = 6 * how.command_timeout + how.release_timeout + slack;
        switch (d.what) {
        case deed::lock:
            return duration::max();
        case deed::try_lock:
        case deed::try_lock_for:
            if (d.timeout >= duration::max() / 2)
                return duration::max();
            return d.timeout + how.lease_longest / 10 +
                   (troubled(d) ? answers + executor_timeout : slack + realm_.ways.node_timeout);
        case deed::unlock:
            return how.release_timeout + how.command_timeout + executor_timeout + slack;
        case deed::share:
            return slack;
        case deed::extend:
            return 2 * how.command_timeout + executor_timeout + slack;
        default:
            return how.unavailable_timeout + how.command_timeout + executor_timeout + slack;
        }
    }

    bool has_reason(const deal& d, outcome how) const {
        switch (how) {
        case outcome::done:
            return true;
        case outcome::nothing:
            return d.what == deed::try_lock || age(d) >= d.timeout;
        case outcome::cancelled:
            return d.cancelled_at.has_value();
        case outcome::closed:
            return closed(d);
        case outcome::unreachable:
            // A lock that was released by force during the acquisition lacks its votes.
            return troubled(d) || closed(d) || some_node_sits_out(d) || waits_behind_failure(d) ||
                   (d.how == way::majority && something_befell(d));
        case outcome::outcome_unknown:
            return troubled(d) || closed(d);
        case outcome::clock_unstable:
            return std::any_of(realm_.nodes.begin(), realm_.nodes.end(),
                               [](const node& each) { return !each.is_faithful; });
        case outcome::lease_lost:
            return !acquires(d.what) || troubled(d) || something_befell(d);
        case outcome::overloaded:
            return any_terminal(
                d, [&](const terminal& t) { return t.net.last_want_of_room() >= d.started_at; });
        default:
            return false;
        }
    }
    /// Returns whether a fault affected one of the locks, so that the call may have given up.
    bool something_befell(const deal& d) const {
        return std::any_of(d.of.begin(), d.of.end(),
                           [&](spot where) { return !realm_.is_well(where); });
    }
    /// Returns whether the call may be queued behind another call of its program that has got no
    /// reply. Then it cannot know whether the lock is busy. The other call repeats its request
    /// within `unavailable_timeout`.
    bool waits_behind_failure(const deal& d) const {
        return acquires(d.what) && any_terminal(d, [&](const terminal& t) {
                   return t.net.troubled_until() + realm_.how.unavailable_timeout >= d.started_at;
               });
    }
    bool some_node_sits_out(const deal& d) const {
        return d.how == way::majority && any_terminal(d, [&](const terminal& t) {
                   const auto& restarts = realm_.node_at(t.server).restarts;
                   return !restarts.empty() &&
                          restarts.back() + realm_.how.lease_longest >= d.started_at;
               });
    }

    /// Checks that a waiting call gets its locks when they are free. Skips the call if another call
    /// waits for one of these locks, or if its own program has a lease of one.
    void check_progress(std::uint64_t id, const deal& d) {
        const time_point now = realm_.clock.now();
        if (!acquires(d.what) || d.what == deed::try_lock)
            return;
        const bool waits_alone = is_alone(id, d);
        const bool all_free = std::all_of(d.of.begin(), d.of.end(), [&](spot where) {
            return realm_.seen(where).owner.empty() && realm_.is_well(where) &&
                   realm_.node_at(where.server).is_faithful;
        });
        if (!waits_alone || !all_free ||
            any_terminal(d, [](const terminal& t) { return t.net.cut_off(); })) {
            free_since_.erase(id);
            return;
        }
        time_point since = free_since_.emplace(id, now).first->second;
        for (const spot where : d.of)
            since = std::max(since, realm_.at(d.program, where.server).net.troubled_until());
        if (now - since > taken_within(d))
            fail(d, "waits, and all has been free for " + std::to_string((now - since).count()) +
                        " ms");
    }
    bool is_alone(std::uint64_t id, const deal& d) const {
        const auto& calls = realm_.books.under_way();
        const auto& claims = realm_.books.claims();
        return std::all_of(calls.begin(), calls.end(),
                           [&](const auto& other) {
                               return other.first == id || !acquires(other.second.what) ||
                                      !meet(other.second.of, d.of);
                           }) &&
               std::all_of(claims.begin(), claims.end(), [&](const claim* c) {
                   return c->program != d.program || !meet(c->of, d.of);
               });
    }
    static bool meet(const std::vector<spot>& one, const std::vector<spot>& other) {
        return std::find_first_of(one.begin(), one.end(), other.begin(), other.end()) != one.end();
    }

    /// Returns the time within which free locks must be taken: the poll interval, the longest pause
    /// between two attempts, and some round trips.
    duration taken_within(const deal& d) const {
        const bool flawless = !any_terminal(d, [](const terminal& t) { return !t.net.flawless(); });
        if (flawless)
            return duration{500} + realm_.how.poll_bound / 50 + 12 * latency(d);
        constexpr duration longest_pause{1000};
        return 2 * realm_.how.poll_bound + longest_pause + 12 * latency(d) + duration{250};
    }

    void fail(const deal& d, const std::string& what) {
        std::string where;
        for (const spot each : d.of)
            where += " " + std::to_string(each.name) + "@" + std::to_string(each.server);
        realm_.violated("every operation ends", d.of.empty() ? -1 : d.of.front().name,
                        std::string{spelled(d.what)} + " of program " + std::to_string(d.program) +
                            "." + std::to_string(d.actor) + " on" + where + ", begun " +
                            std::to_string(age(d).count()) + " ms ago, " + what);
    }

    realm& realm_;
    /// time since which all locks of a call are free
    std::map<std::uint64_t, time_point> free_since_;
};

/// Checker: while a client believes that it holds several locks, each server that this needs shows
/// it as the owner until the lease ends. No other client believes that it holds one of them. A
/// client that loses a needed lock is told.
class together {
public:
    explicit together(realm& r)
        : realm_{r} {}

    /// Called for a grant. Checks that the acquisition took no longer than the lease, unless a
    /// server had a fault. A lock that was released by force before its caller got it does not
    /// count: its caller will be told (see check_told()).
    void granted(const claim& c) {
        const auto is_well = [this](spot where) { return realm_.is_well(where); };
        const bool taken_away =
            c.is_joint() ? !std::ranges::all_of(c.of, is_well) : c.held.lost().stop_requested();
        if (c.held.remaining() <= duration{} && !taken_away && !realm_.is_closed(c))
            fail(c, "is granted, and not believed");
    }

    /// Checks that no two callers believe at the same time that they hold the same lock.
    void compare_all() {
        const std::vector<claim*>& all = realm_.books.claims();
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t j = i + 1; j < all.size(); ++j)
                compare(*all[i], *all[j]);
    }

    void look(const std::vector<belief>& beliefs) {
        auto next = beliefs.begin(); // both lists have the same order
        for (const claim* const c : realm_.books.claims())
            if (next != beliefs.end() && next->of == c)
                check_believer(*next++);
            else
                check_told(*c);
    }

    /// Called for a loss. Checks that a renewed lease was not lost without a fault.
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

    void check_believer(const belief& one) {
        claim& c = *one.of;
        const duration left = c.held.remaining();
        std::size_t kept = 0, shown = 0;
        for (const share_of_claim& each : one.shares) {
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

    /// Checks that a loss is noticed in time: a third of the lease (the interval of renewals), and
    /// the time of a request that may have failed just before.
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

/// Checker: after its restart, a node does not vote for the time of the longest lease, because it
/// may have forgotten its grants.
class votes {
public:
    explicit votes(realm& r)
        : realm_{r} {}

    void sent(const memory::request& r) {
        if (r.what != memory::verb::look)
            return;
        std::vector<std::size_t> restarts;
        for (const node& each : realm_.nodes)
            restarts.push_back(each.restarts.size());
        asked_.emplace(to_string(r.holds[0].owner), std::move(restarts));
    }

    void look(const std::vector<belief>& beliefs) {
        for (const belief& each : beliefs)
            if (each.of->how == way::majority)
                check(each);
    }

private:
    void check(const belief& one) {
        const claim& c = *one.of;
        std::size_t counting = 0;
        for (const share_of_claim& each : one.shares)
            counting += each.hold->is_valid() && may_vote(each) ? 1 : 0;
        if (counting < c.needs())
            realm_.violated("votes", c.of.front().name,
                            c.held.owner() + " is believed with " + std::to_string(counting) +
                                " votes of nodes that remember");
    }

    bool may_vote(const share_of_claim& part) const {
        const auto asked = asked_.find(part.owner);
        if (asked == asked_.end())
            return false;
        const auto server = static_cast<std::size_t>(part.where.server);
        const std::vector<time_point>& all = realm_.nodes[server].restarts;
        const auto before = all.begin() + static_cast<std::ptrdiff_t>(asked->second[server]);
        const duration longest = realm_.how.lease_longest;
        return std::none_of(all.begin(), before,
                            [&](time_point when) { return realm_.clock.now() < when + longest; });
    }

    realm& realm_;
    /// Number of restarts of each node at the first request of an owner, by owner. (A time would
    /// not do: a node may be restarted in the same millisecond.)
    std::map<std::string, std::vector<std::size_t>> asked_;
};

/// Checker: after a failed attempt, a lost lease or a late vote, no lock stays on a server for
/// long. No caller keeps one lock while it waits for another.
class remains {
public:
    explicit remains(realm& r)
        : realm_{r} {}

    void look(const std::vector<belief>&);
    void sent(const memory::request&, const memory::fate&);
    void closed(const terminal&);
    void at_peace();
    void at_the_end();

private:
    struct record {
        /// time after which no request can have an effect any more
        time_point settles_at{};
        bool copied = false; ///< a second copy of an attempt may arrive after the release
    };

    void watch(spot, const std::vector<belief>&);
    bool is_of_closed(const std::string& owner) const;
    duration settled_within(spot, const terminal& home) const;
    void check_rest(const char* when);
    void check_engine(const sync::engine&, const std::string& of);
    void fail(int name, std::string story);

    realm& realm_;
    /// time since which no caller wants the hold
    std::map<std::pair<spot, std::string>, time_point> unwanted_;
    by_text<record> records_; ///< requests of each owner
    /// owners whose caller has gone
    std::set<std::string> abandoned_;
    std::set<std::string, std::less<>> closed_;          ///< identities of closed clients
    std::vector<std::shared_ptr<sync::engine>> engines_; ///< engines (the library's internal state)
                                                         ///< of closed clients
};

/// All checkers of a simulation with several servers. Its functions are called at certain moments
/// of the simulation, and call the checkers.
class audit {
public:
    explicit audit(realm& r)
        : realm_{r}
        , together_{r}
        , votes_{r}
        , deals_{r}
        , remains_{r} {}

    void after_step() { together_.compare_all(); }

    /// Called when no task is ready, before the clock moves.
    void at_rest() {
        const std::vector<belief> beliefs = realm_.beliefs();
        together_.look(beliefs);
        votes_.look(beliefs);
        deals_.look();
        remains_.look(beliefs);
    }

    void sent(const memory::request& r, const memory::fate& f) {
        votes_.sent(r);
        remains_.sent(r, f);
    }
    void granted(const claim& c) { together_.granted(c); }
    void lost(const claim& c) { together_.lost(c); }
    void completed(const deal& d, outcome how) { deals_.completed(d, how); }
    void dropped(const deal& d) { deals_.dropped(d); }
    void closed(const terminal& t) { remains_.closed(t); }

    void at_peace() { remains_.at_peace(); } ///< called when all locks were released some time ago
    void at_the_end() { remains_.at_the_end(); }

private:
    const realm& realm_;
    together together_;
    votes votes_;
    deals deals_;
    remains remains_;
};

} // namespace holdfast::sim::several
