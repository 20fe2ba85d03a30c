// SPDX-License-Identifier: Apache-2.0
// Checkers of how operations and holds end, and of the events that the client reports about them.
#pragma once

#include "sim/world.hpp"
#include "sync/acquisition_loop.hpp"
#include "sync/lease_validity.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace holdfast::sim {

/// Checker: every operation ends exactly once, in time, and with an error only if there is a reason
/// for it.
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
        if (acquires(o.what) && how == outcome::cancelled)
            cancelled_at_[{o.who.client, o.who.name}] = world_.clock.now();
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
        case deed::share: // more replicas may have to confirm
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
            // The attempt is sent once more if the server answers soon that it came too late.
            return o.timeout >= duration::max() / 2 ? duration::max()
                                                    : o.timeout + answer + how.command_timeout / 2;
        default:
            // a change of a counter is repeated as an attempt is
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
            if (acquires(o.what) && took >= o.timeout &&
                (waits_behind_failure(o) || is_shorter_than_round_trip(o)))
                return true;
            [[fallthrough]];
        case outcome::outcome_unknown:
            if ((o.what == deed::extend || o.what == deed::share) && world_.replicas.exists())
                return true; // just before the lease ends, the call does not wait for replicas
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

    /// Returns whether the operation may be queued behind another call of its client that has got
    /// no reply to its last request. Then it cannot know whether the lock is busy. The other call
    /// repeats its request within `unavailable_timeout`. A cancelled call counts until its last
    /// request has ended.
    bool waits_behind_failure(const operation& o) const {
        const auto& calls = world_.books.under_way();
        const seat& place = place_of(o);
        const time_point trouble =
            std::max({place.net.troubled_until(), world_.replicas.last_trouble(), place.moved_at});
        return trouble + world_.how.unavailable_timeout >= o.started_at &&
               (is_behind_cancelled_call(o) ||
                std::any_of(calls.begin(), calls.end(), [&](const auto& entry) {
                    const operation& other = entry.second;
                    const bool is_another =
                        other.who.actor != o.who.actor || other.started_at < o.started_at;
                    return is_another && acquires(other.what) && other.who.client == o.who.client &&
                           other.who.name == o.who.name;
                }));
    }

    /// Returns whether a request of a cancelled call for the same lock may still have been in
    /// flight when the operation began.
    bool is_behind_cancelled_call(const operation& o) const {
        const auto found = cancelled_at_.find({o.who.client, o.who.name});
        const duration answer =
            world_.how.command_timeout + 2 * place_of(o).net.latency() + duration{5};
        return found != cancelled_at_.end() && found->second + answer >= o.started_at;
    }

    /// Returns whether the timeout is shorter than a round trip, so that the wait may end before
    /// any reply arrives.
    bool is_shorter_than_round_trip(const operation& o) const {
        return o.timeout > duration::zero() && o.timeout <= 2 * place_of(o).net.latency();
    }

    /// Returns whether three grants in a row may have arrived after the end of their leases. A wait
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

    /// Returns whether the operation depends on another hold, which may end meanwhile.
    static bool stands_on_another(deed d) { return d == deed::upgrade || d == deed::read_beside; }

    std::size_t waiting_beside(const operation& o) const {
        const auto& calls = world_.books.under_way();
        const auto waits = std::count_if(calls.begin(), calls.end(), [&](const auto& entry) {
            return acquires(entry.second.what) && entry.second.who.client == o.who.client;
        });
        return static_cast<std::size_t>(waits) + over_just_now(o.who.client);
    }

    // Called when a wait has ended. Counts the waits that end at the same moment, because a refusal
    // of too many waiters is reported a little later than it was decided.
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
    /// time at which a wait was last cancelled, by client and name
    std::map<std::pair<int, int>, time_point> cancelled_at_;
};

/// Checker: a released hold stays released. The client does not renew it or request it again, and
/// uses its owner number for no other acquisition. Instead of a release, the client may hand the
/// hold over to another waiter of its own. It must respect the limits of `hand_off`, and the
/// remaining lease must fit the new owner's wish.
class afterlife {
public:
    explicit afterlife(world& w)
        : world_{w} {}

    /// Called when the last lease on a hold ends. At this moment the client may still send an
    /// earlier request for it, before the release.
    void released(const claim& c) { of(c).unwanted_since = world_.clock.now(); }

    void shared(const claim& c) { of(c).unwanted_since.reset(); }

    /// Called when an operation ends. Until the end of a re-entry, its hold is in use, even if the
    /// re-entry fails.
    void completed(const operation& o) {
        if (o.what == deed::share)
            share_ended_at_[o.who.client] = world_.clock.now();
    }

    void granted(const claim& c) {
        life& l = of(c);
        if (!std::exchange(l.was_granted, true))
            l.granted_at = world_.clock.now();
        else if (c.reads && !l.over)
            joined(c, l);
        else if (l.over || !l.unwanted_since)
            fail(c.who.name, "two acquisitions were granted under one number, " + c.owner);
        else
            handed_on(c, l);
    }

    void sent(const memory::request& r) {
        for (const hold& h : r.holds)
            sent(r, h);
    }

private:
    struct life {
        std::string name{};
        bool was_granted = false; ///< whether the client has got the grant
        std::optional<time_point> unwanted_since{};
        time_point granted_at{};
        unsigned times_handed_on = 0;
        bool over = false; ///< whether a release was sent
    };

    life& of(const claim& c) {
        life& l = lives_[c.owner];
        l.name = world::name_of(c.who.name).text;
        return l;
    }

    /// Called when a reader joins the hold of another reader of its client. Readers may join as
    /// long as the hold may be handed over.
    void joined(const claim& c, life& l) {
        l.unwanted_since.reset();
        if (world_.clock.now() - l.granted_at >= world_.how.hand_off.within)
            fail(c.who.name, "shared beyond its budget: " + c.owner);
    }

    void handed_on(const claim& c, life& l) {
        l.unwanted_since.reset();
        const hand_off& budget = world_.how.hand_off;
        const bool too_long = world_.clock.now() - l.granted_at >= budget.within;
        if (++l.times_handed_on > budget.times_max || too_long)
            fail(c.who.name, "handed on beyond its budget: " + c.owner);
        const seat& home = world_.seats[static_cast<std::size_t>(c.who.client)];
        if (c.held.remaining() < world_.how.given_for(c.longest) / 2 &&
            home.generation == home.of_program)
            fail(c.who.name, "handed on with hardly any time left: " + c.owner);
        if (c.held.remaining() > (world_.how.by_session() ? 1 : 2) * c.longest)
            fail(c.who.name, "handed on with far more time than was asked for: " + c.owner);
    }

    void sent(const memory::request& r, const hold& h) {
        life& l = lives_[world_.text_of(h.owner)];
        if (!l.name.empty() && l.name != h.name.text)
            fail(h, "one number is used for two locks");
        l.name = h.name.text;
        const bool renews = r.what == memory::verb::renew && r.lease_time > duration{};
        if (renews && !may_be_shared_soon(h) &&
            (l.over || l.unwanted_since.value_or(time_point::max()) < world_.clock.now()))
            fail(h, "renewed after its release");
        if (r.what == memory::verb::look && (l.over || l.was_granted))
            fail(h, "asked for again after it was granted or released");
        l.over = l.over || r.what == memory::verb::release;
    }

    /// Returns whether a re-entry of this client waits for replicas, or has ended its wait at this
    /// moment.
    bool may_be_shared_soon(const hold& h) const {
        if (!world_.replicas.exists())
            return false;
        const int client = world_.client_of(world_.text_of(h.owner));
        const auto ended = share_ended_at_.find(client);
        const bool ended_now =
            ended != share_ended_at_.end() && ended->second == world_.clock.now();
        return ended_now || std::ranges::any_of(world_.books.under_way(), [&](const auto& entry) {
                   return entry.second.what == deed::share && entry.second.who.client == client;
               });
    }

    void fail(const hold& h, const std::string& what) {
        fail(world::number_of(h.name.text), what + ": " + to_string(h.owner));
    }
    void fail(int name, std::string story) {
        world_.violated("nothing after release", name, std::move(story));
    }

    world& world_;
    by_text<life> lives_;                      ///< hold of each owner
    std::map<int, time_point> share_ended_at_; ///< end of the last re-entry of each client
};

/// Checker: the events that a client reports to its observer are consistent. Each hold is acquired
/// once and ends once, and a hand-over counts as an end and a new acquisition. No event of a hold
/// follows its loss. A wait that begins also ends.
class reports {
public:
    explicit reports(world& w)
        : world_{w} {}

    void heard(int client, int generation, const event& e) {
        heard_of_call(client, generation, e);
        if (e.owner_number == 0)
            return;
        record& r = records_[{client, generation, e.owner_number}];
        if (e.kind == event_kind::acquired) {
            if (r.acquired && !r.ended)
                fail(e, "was acquired twice");
            r = {.acquired = true}; // the hold may be granted once more, after a hand-over
            return;
        }
        if (!r.acquired)
            fail(e, "was never acquired, and something of it is reported");
        if (r.lost)
            fail(e, "was lost, and more of it is reported");
        if (ends(e.kind) && r.ended)
            fail(e, "ended twice");
        r.ended = r.ended || ends(e.kind);
        r.lost = r.lost || e.kind == event_kind::lost;
    }

    void at_peace() {
        for (const auto& [client, generation, number] : waits_)
            if (generation == world_.seats[static_cast<std::size_t>(client)].generation)
                world_.violated("reports add up", -1,
                                "client" + std::to_string(client) +
                                    " never reported the end of a wait");
        for (const auto& [of, count] : holds_)
            if (count != 0 &&
                of.second == world_.seats[static_cast<std::size_t>(of.first)].generation)
                world_.violated("reports add up", -1,
                                "client" + std::to_string(of.first) + " reported " +
                                    std::to_string(count) + " more holds than ends");
        for (const auto& [of, r] : records_) {
            const auto& [client, generation, number] = of;
            const seat& place = world_.seats[static_cast<std::size_t>(client)];
            if (!r.ended && generation == place.generation)
                world_.violated("reports add up", -1,
                                "client" + std::to_string(client) + " never reported the end of " +
                                    std::to_string(number));
        }
    }

private:
    struct record {
        bool acquired = false;
        bool ended = false;
        bool lost = false;
    };

    void heard_of_call(int client, int generation, const event& e) {
        if (e.kind == event_kind::waiting &&
            !waits_.insert({client, generation, e.call_number}).second)
            fail(e, "began to wait twice");
        if (e.kind == event_kind::acquired || e.kind == event_kind::joined ||
            e.kind == event_kind::waited)
            waits_.erase({client, generation, e.call_number});
        holds_[{client, generation}] += e.held_change;
        if (holds_[{client, generation}] < 0)
            fail(e, "ended one hold more than began");
    }

    static bool ends(event_kind k) {
        return k == event_kind::released || k == event_kind::lost ||
               k == event_kind::release_failed;
    }

    void fail(const event& e, const std::string& what) {
        world_.violated("reports add up", world::number_of({e.name, e.name_size}),
                        "number " + std::to_string(e.owner_number) + " " + what);
    }

    world& world_;
    std::map<std::tuple<int, int, std::uint64_t>, record> records_;
    std::set<std::tuple<int, int, std::uint64_t>> waits_; ///< calls that wait
    std::map<std::pair<int, int>, int> holds_;            ///< number of holds of each client
};

} // namespace holdfast::sim
