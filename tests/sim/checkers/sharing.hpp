// SPDX-License-Identifier: Apache-2.0
// Checker: readers get the lock if no caller writes or waits to write. If nothing went wrong they
// get it at once, also after a downgrade and after a writer that gave up. No reader overtakes a
// writer of its own client. (The checker `exclusion` finds a reader beside another caller's write
// hold.)
#pragma once

#include "sim/world.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

class sharing {
public:
    explicit sharing(world& w)
        : world_{w}
        , open_since_(static_cast<std::size_t>(w.names())) {}

    /// Called when a program is closed. The flag of its waiting writer stays for a while.
    void closed() { program_closed_ = true; }

    void look() {
        if (!world_.shares)
            return;
        note_writers();
        for (int name = 0; name < world_.names(); ++name) {
            std::optional<time_point>& since = open_since_[static_cast<std::size_t>(name)];
            if (world_.seen(name).written || somebody_would_write(name))
                since.reset();
            else if (!since)
                since = world_.clock.now();
            if (since)
                check(name, *since);
        }
    }

    /// Called when a reader gets the lock. Checks that no writer of the same client was waiting
    /// before the reader began.
    void granted(const claim& c) {
        if (!c.reads || !c.beside.empty())
            return;
        const operation* const own = begun(c);
        for (const auto& [id, o] : world_.books.under_way())
            if (own && waits_to_write(o) && o.who.name == c.who.name &&
                o.who.client == c.who.client && o.generation == own->generation &&
                o.what != deed::upgrade && o.started_at < own->started_at &&
                o.timeout > world_.clock.now() - o.started_at && !o.cancelled_at)
                world_.violated("sharing", c.who.name,
                                "client" + std::to_string(c.who.client) + "." +
                                    std::to_string(c.who.actor) +
                                    " reads, and has overtaken a writer of its client");
    }
    void ended(const operation& o) { last_ = o; }

private:
    static bool waits_to_write(const operation& o) {
        return acquires(o.what) && !o.reads && o.what != deed::try_lock;
    }

    /// Stores which clients hold the lock as writers. A client may believe for a while in a write
    /// hold that the server has taken away. If it believed so at the last check, it counts as a
    /// believer until now.
    void note_writers() {
        std::set<std::pair<int, int>> believed;
        for (const claim* c : world_.books.believed())
            if (!c->reads && c->held.owns_lock())
                believed.insert({c->who.client, c->who.name});
        believed_before_.insert(believed.begin(), believed.end());
        for (const std::pair<int, int>& each : believed_before_)
            last_written_[each] = world_.clock.now();
        believed_before_ = std::move(believed);
    }

    /// Returns the operation that has just ended with this grant.
    const operation* begun(const claim& c) const {
        const bool is_its = last_ && last_->who.client == c.who.client &&
                            last_->who.actor == c.who.actor && last_->who.name == c.who.name;
        return is_its ? &*last_ : nullptr;
    }

    bool somebody_would_write(int name) const {
        const auto& calls = world_.books.under_way();
        return std::any_of(calls.begin(), calls.end(), [&](const auto& entry) {
            return entry.second.who.name == name && acquires(entry.second.what) &&
                   !entry.second.reads;
        });
    }

    void check(int name, time_point open_since) {
        for (const auto& [id, o] : world_.books.under_way()) {
            if (o.who.name != name || !acquires(o.what) || !o.reads || o.what == deed::try_lock)
                continue;
            const seat& home = world_.seats[static_cast<std::size_t>(o.who.client)];
            const network& net = home.net;
            const time_point since = std::max({open_since, o.started_at, net.troubled_until(),
                                               world_.replicas.last_trouble(), home.moved_at,
                                               last_written_[{o.who.client, name}]});
            if (net.cut_off() || (world_.replicas.exists() && !world_.replicas.is_there(home)) ||
                world_.clock.now() - since <= let_in_within(net))
                continue;
            world_.violated("sharing", name,
                            "nobody writes or would write, and client" +
                                std::to_string(o.who.client) + "." + std::to_string(o.who.actor) +
                                " waits to read for " +
                                std::to_string((world_.clock.now() - since).count()) + " ms");
        }
    }

    /// Returns the time in which a reader must get the lock. The flag of a waiting writer stays for
    /// twice the polling bound after the writer's last attempt, unless it is removed. While other
    /// callers are subscribed, readers of a client leave time for writers.
    duration let_in_within(const network& net) const {
        const duration gap = world_.how.hand_off.within;
        if (all_flawless() && world_.server_is_faithful() && !program_closed_)
            return duration{250} + world_.how.poll_bound / 50 + 10 * net.latency() + gap;
        return 3 * world_.how.poll_bound + duration{2000} + world_.how.command_timeout +
               world_.how.lease_longest + gap + 10 * net.latency();
    }
    bool all_flawless() const {
        return std::all_of(world_.seats.begin(), world_.seats.end(), [](const seat& each) {
            return each.net.flawless() && !each.net.doubled();
        });
    }

    world& world_;
    /// time since which the lock is open to readers, by name
    std::vector<std::optional<time_point>> open_since_;
    /// time of the last write hold, by client and name
    std::map<std::pair<int, int>, time_point> last_written_;
    /// writers at the last check, by client and name
    std::set<std::pair<int, int>> believed_before_;
    std::optional<operation> last_; ///< operation that ended last
    bool program_closed_ = false;
};

} // namespace holdfast::sim
