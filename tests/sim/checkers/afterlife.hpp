// SPDX-License-Identifier: Apache-2.0
// Checker: a released hold stays released. It is not renewed or requested again, and its owner
// number is not used for a second acquisition. Before its release is sent, it may be handed over to
// another waiter of the same client. The hand-over must respect the budget for number and time.
// Enough of the lease must remain, but not far more than the new owner asked for.
#pragma once

#include "sim/world.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::sim {

class afterlife {
public:
    explicit afterlife(world& w)
        : world_{w} {}

    /// Called when the last lease on a hold ends; `c` has the owner. The client sends the release
    /// request at this moment. It may still send an earlier request before the release.
    void released(const claim& c) { of(c).unwanted_since = world_.clock.now(); }

    void shared(const claim& c) { of(c).unwanted_since.reset(); }

    /// Called when an operation ends. If the operation was a re-entry, the hold was in use until
    /// now, even if the re-entry failed.
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
        bool was_granted = false; ///< whether the owner knows that the lock was granted
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

    /// Called when a reader joins a hold. Readers may join as long as the hold may be handed over.
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

    /// Returns whether a re-entry of this client waits for replicas. Also returns true if the wait
    /// ended at this moment.
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

} // namespace holdfast::sim
