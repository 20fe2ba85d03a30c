// SPDX-License-Identifier: Apache-2.0
// Checker: every operation on several locks ends exactly once, in time, and with an outcome that
// has a reason. A call that waits for locks which are all free takes them.
#pragma once

#include "sim/several/realm.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace holdfast::sim::several {

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

    /// Returns the longest allowed duration of an operation. A round may begin just before the
    /// timeout. The call then releases the locks of this round before it ends.
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
            return troubled(d) || closed(d) || some_node_sits_out(d);
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
    /// Returns whether a fault affected one of the locks. Repeated faults during the acquisition
    /// may have made the call give up.
    bool something_befell(const deal& d) const {
        return std::any_of(d.of.begin(), d.of.end(),
                           [&](spot where) { return !realm_.is_well(where); });
    }
    bool some_node_sits_out(const deal& d) const {
        return d.how == way::majority && any_terminal(d, [&](const terminal& t) {
                   const auto& restarts = realm_.node_at(t.server).restarts;
                   return !restarts.empty() &&
                          restarts.back() + realm_.how.lease_longest >= d.started_at;
               });
    }

    /// Checks that a call gets its locks if they are free. Skips a call if other calls of its
    /// program wait too. Also skips a call if its own program still believes that it holds one of
    /// the locks.
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

    /// Returns the time in which free locks must be taken. It contains the polling bound, the
    /// longest pause between two attempts, and some round trips.
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

} // namespace holdfast::sim::several
