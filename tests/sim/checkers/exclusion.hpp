// SPDX-License-Identifier: Apache-2.0
// Checkers of who may hold a lock at the same time, and of fencing tokens.
#pragma once

#include "sim/world.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

// Checker: no two callers believe at the same time that they hold the same lock. Exceptions are
// readers, leases of the same hold, and a caller that both reads and writes.

/// Line of the trace if two clients believe that they hold the lock at a time when a failover may
/// have lost it.
inline constexpr const char* two_believe = "TWO BELIEVE IN IT, after a failover that may lose it";

class exclusion {
public:
    explicit exclusion(world& w)
        : world_{w} {}

    void look() {
        const ledger::claims& all = world_.books.believed();
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t j = i + 1; j < all.size(); ++j)
                compare(*all[i], *all[j]);
    }

private:
    static bool compatible(const claim& one, const claim& other) {
        if (one.reads && other.reads)
            return true;
        const bool of_one_actor =
            one.who.client == other.who.client && one.who.actor == other.who.actor;
        const bool stand_together = one.beside == other.owner || other.beside == one.owner;
        return one.hold == other.hold || (stand_together && of_one_actor);
    }

    void compare(const claim& one, const claim& other) {
        const int name = one.who.name;
        if (name != other.who.name || !one.permits.empty() || compatible(one, other) ||
            !world_.exclusion_promised(name) || !one.held.owns_lock() || !other.held.owns_lock())
            return;
        if (!world_.promised(one) || !world_.promised(other))
            return count(one, other);
        world_.violated("exclusion", name,
                        "two leases are believed at once: " + one.owner + ", and " + other.owner);
    }

    /// Notes in the trace that two clients believe that they hold one lock, after a failover to a
    /// replica that need not have confirmed it. The tests expect this in some seeds.
    void count(const claim& one, const claim& other) {
        if (counted_.insert({one.owner, other.owner}).second)
            world_.log.note({.name = one.who.name}, two_believe);
    }

    world& world_;
    std::set<std::pair<std::string, std::string>> counted_;
};

/// Checker: readers get the lock if nobody writes or waits to write, and at once if nothing went
/// wrong. No reader overtakes a waiting writer of its own client.
class sharing {
public:
    explicit sharing(world& w)
        : world_{w}
        , open_since_(static_cast<std::size_t>(w.names())) {}

    /// Called when a program is closed. The mark of its waiting writer stays on the server for a
    /// while.
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
    /// already when the reader began.
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

    /// Stores which clients hold the lock as writers, or have believed so at the last check.
    void note_writers() {
        std::set<std::pair<int, int>> believed;
        for (const claim* c : world_.books.believed())
            if (!c->reads && c->is_believed)
                believed.insert({c->who.client, c->who.name});
        believed_before_.insert(believed.begin(), believed.end());
        for (const std::pair<int, int>& each : believed_before_)
            last_written_[each] = world_.clock.now();
        believed_before_ = std::move(believed);
    }

    /// Returns the operation that has just ended with this grant, or null.
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

    /// Returns the time within which a reader must get the lock. A writer that stops waiting
    /// without a word keeps readers out for twice the poll interval. Readers also leave some time
    /// to writers while others are subscribed.
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
    /// time since which readers may take the lock, by name
    std::vector<std::optional<time_point>> open_since_;
    /// time of the last write hold, by client and name
    std::map<std::pair<int, int>, time_point> last_written_;
    /// clients that at the last check believed that they hold a write lock, with its name
    std::set<std::pair<int, int>> believed_before_;
    std::optional<operation> last_; ///< operation that ended last
    bool program_closed_ = false;
};

/// Checker: a fenced lock that is requested after another grant gets a greater token. No two grants
/// have the same token.
class tokens {
public:
    explicit tokens(world& w)
        : world_{w}
        , given_(static_cast<std::size_t>(w.names())) {}

    /// Returns the greatest token so far, for an operation that begins now and must get a greater
    /// one.
    std::uint64_t greatest(int name) const {
        if (name < 0)
            return 0; // an operation without a lock
        const std::set<std::uint64_t>& given = given_[static_cast<std::size_t>(name)];
        return given.empty() ? 0 : *given.rbegin();
    }

    void completed(const operation& o) { floor_ = o.token_floor; }

    /// Called when the operation that has just ended was granted the lock.
    void granted(const claim& c) {
        const std::uint64_t token = c.held.fencing_token();
        if (token == 0 || !world_.tokens_promised(c.who.name))
            return;
        // A smaller token is correct if the hold was ended by force and the caller does not know
        // this yet.
        if (token <= floor_ && world_.exclusion_promised(c.who.name))
            fail(c, "is not above " + std::to_string(floor_) + ", which was given before");
        if (!given_[static_cast<std::size_t>(c.who.name)].insert(token).second)
            fail(c, "was given before");
    }

    /// Called when the server has lost its counters, so that tokens begin at one again.
    void forgotten() {
        given_.assign(given_.size(), {});
        for (const auto& [id, o] : world_.books.under_way())
            world_.books.at(id).token_floor = 0;
    }

private:
    void fail(const claim& c, const std::string& what) {
        world_.violated("tokens grow", c.who.name,
                        c.owner + ": its token " + std::to_string(c.held.fencing_token()) + " " +
                            what);
    }

    world& world_;
    std::vector<std::set<std::uint64_t>> given_; ///< granted tokens of each name
    std::uint64_t floor_ = 0;
};

} // namespace holdfast::sim
