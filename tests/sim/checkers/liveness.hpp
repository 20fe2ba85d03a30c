// SPDX-License-Identifier: Apache-2.0
// Checkers of waiters: a free lock is soon taken, and a fair lock is granted in the order of its
// queue.
#pragma once

#include "sim/world.hpp"
#include "store/remote/attempts.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

/// Checker: a free lock that has a waiter is taken at once if nothing went wrong, and else when a
/// waiter that can reach the server polls.
class liveness {
public:
    explicit liveness(world& w)
        : world_{w}
        , free_since_(static_cast<std::size_t>(w.names()))
        , queued_(static_cast<std::size_t>(w.names())) {}

    void look() {
        note_believers();
        for (int name = 0; name < world_.names(); ++name) {
            if (world_.how.counts(name))
                continue;
            std::optional<time_point>& since = free_since_[static_cast<std::size_t>(name)];
            std::size_t& queued = queued_[static_cast<std::size_t>(name)];
            if (!world_.seen(name).owner.empty() || a_jvm_is_first(name)) {
                since.reset();
                queued = 0;
            } else if (!since) {
                since = world_.clock.now();
            }
            if (world_.jvms_came())
                queued = std::max(queued, world_.waiting(name).size());
            if (since)
                check(name, *since);
        }
    }

private:
    using place = std::pair<int, int>; ///< client and name

    void check(int name, time_point free_since) {
        for (const auto& [id, o] : world_.books.under_way()) {
            if (o.who.name != name || !acquires(o.what) || o.what == deed::try_lock ||
                last_believed_[{o.who.client, name}] == world_.clock.now())
                continue;
            const seat& home = world_.seats[static_cast<std::size_t>(o.who.client)];
            const network& net = home.net;
            const time_point since =
                std::max({free_since, o.started_at, net.troubled_until(), all_well_since(home),
                          last_believed_[{o.who.client, name}]});
            if (net.cut_off() || (world_.replicas.exists() && !world_.replicas.is_there(home)) ||
                world_.clock.now() - since <=
                    taken_within(net) + waited_for_dead(name) + waited_untold(name) + kept_back())
                continue;
            world_.violated("liveness", name,
                            "the lock is free, and client" + std::to_string(o.who.client) + "." +
                                std::to_string(o.who.actor) + " still waits for it after " +
                                std::to_string((world_.clock.now() - since).count()) + " ms");
        }
    }

    /// Stores which clients believe that they hold the lock. After the server has lost such a hold,
    /// waiters of the same client still wait for its end.
    void note_believers() {
        for (const place& p : believers_)
            last_believed_[p] = world_.clock.now();
        believers_.clear();
        for (const claim* c : world_.books.believed())
            if (c->is_believed)
                believers_.emplace_back(c->who.client, c->who.name);
        for (const place& p : believers_)
            last_believed_[p] = world_.clock.now();
    }

    /// Returns the time since which all servers work. It includes the second after which a client
    /// retries.
    time_point all_well_since(const seat& home) const {
        constexpr duration longest_pause{1000};
        const time_point trouble = std::max(world_.replicas.last_trouble(), home.moved_at);
        return world_.replicas.exists() ? trouble + longest_pause : trouble;
    }

    /// Returns whether a JVM (a client of Redisson) is first in the queue. It may stay there for
    /// longer than a holdfast client.
    bool a_jvm_is_first(int name) const {
        if (!world_.how.is_fair(name))
            return false;
        const std::vector<std::string>& waiting = world_.waiting(name);
        return !waiting.empty() && world_.client_of(waiting.front()) < 0;
    }

    /// Returns how long waiters that have died or cannot reach the server may block a fair lock:
    /// until their entries in the queue expire. That takes longer after a change of the server's
    /// clock.
    duration waited_for_dead(int name) const {
        const rules& how = world_.how;
        if (!how.is_fair(name) || !world_.anybody_may_be_dead())
            return {};
        // An entry behind JVMs lasts longer, and is shortened only when it becomes the first. So
        // the entries expire one after the other.
        const auto places = static_cast<int>(queued_[static_cast<std::size_t>(name)]);
        return std::max(places, 1) * how.waiter_timeout() + how.poll_bound + world_.stepped_back() +
               world_.replicas.clocks_apart() + how.stranger_waits();
    }

    /// Returns the extra time for a token lock, which other programs release without a
    /// notification, so that waiters must poll.
    duration waited_untold(int name) const {
        return world_.how.is_token(name) ? remote::untold_poll_bound : duration{};
    }

    /// Returns the extra time before readers take a free lock: they first leave a waiting writer
    /// the time of two round trips.
    duration kept_back() const {
        const auto is_flawless = [](const seat& each) { return each.net.flawless(); };
        const bool by_slow_writer =
            world_.shares && !std::all_of(world_.seats.begin(), world_.seats.end(), is_flawless);
        return by_slow_writer ? 2 * world_.how.command_timeout : duration{};
    }

    /// Returns the time within which a waiter must take a free lock: its poll interval, the longest
    /// pause between two attempts, and some round trips.
    duration taken_within(const network& net) const {
        if (net.flawless() && world_.server_is_faithful())
            return duration{250} + world_.how.poll_bound / 50 + 8 * net.latency();
        // with replicas, the notification may come later
        if (net.flawless() && world_.replicas.exists())
            return duration{250} + world_.how.poll_bound / 50 + 8 * net.latency() +
                   3 * world_.replicas.longest_confirmation();
        constexpr duration longest_pause{1000};
        return world_.how.poll_bound + longest_pause + 8 * net.latency() + duration{10};
    }

    world& world_;
    std::vector<std::optional<time_point>> free_since_;
    std::vector<std::size_t> queued_; ///< greatest length of each queue since the lock is free
    std::vector<place> believers_;    ///< clients that believed at the last check that they hold
                                      ///< the lock
    std::map<place, time_point> last_believed_;
};

/// Checker: a fair lock is granted in the order of its queue. No client overtakes a holdfast client
/// in the queue, unless that client's entry has expired because it could not poll.
class order {
public:
    explicit order(world& w)
        : world_{w}
        , seen_(static_cast<std::size_t>(w.how.fair)) {}

    void sent(const memory::request& r, const memory::fate& f) {
        const bool arrives = !f.refused && !f.overloaded && !f.denied && !f.request_lost;
        if (r.what == memory::verb::release && arrives && !details_of(r).counted)
            // the server may execute the release at once
            gave_up_[world_.text_of(r.holds[0].owner)] = true;
        if (r.what == memory::verb::look && arrives &&
            f.request_delay <= world_.how.command_timeout && !may_be_late(r, f.request_delay))
            looks_[world_.text_of(r.holds[0].owner)].push_back(world_.clock.now() +
                                                               f.request_delay);
    }

    /// Forgets the requests of a program that has ended, because they may never arrive.
    void closed(const seat& place) {
        const std::string program = place.program->id() + ":";
        for (auto& [owner, arrivals] : looks_)
            if (owner.starts_with(program))
                std::erase_if(arrivals,
                              [now = world_.clock.now()](time_point each) { return each > now; });
    }

    void look() {
        if (world_.how.fair == 0)
            return;
        const world::server_stamp stamp = world_.stamp();
        if (stamp == seen_at_)
            return;
        const bool only_time_has_passed = stamp.is_same_state(seen_at_);
        seen_at_ = stamp;
        for (int name = 0; name < world_.how.fair; ++name) {
            state& before = seen_[static_cast<std::size_t>(name)];
            if (only_time_has_passed && before.holder.empty())
                continue; // only time has passed, so nobody has got the lock
            std::string holder = world_.holder(name);
            if (holder != before.holder && queues(holder))
                check(name, holder, before.queue.owners);
            before.holder = std::move(holder);
            const world::shown_queue& now = world_.queue_of(name);
            if (before.queue.version != now.version)
                before.queue = now;
        }
    }

private:
    struct state {
        std::string holder{};
        world::shown_queue queue{};
    };

    /// Returns whether the server may refuse the poll because it arrives after its deadline. Such a
    /// poll does not prolong the waiter's entry in the queue.
    bool may_be_late(const memory::request& poll, duration on_its_way) const {
        const std::optional<std::chrono::microseconds> deadline = details_of(poll).deadline;
        const std::chrono::microseconds slowest = on_its_way + on_its_way / 50 + duration{1};
        return deadline && primary_state(world_.server)->now() + slowest > *deadline;
    }

    /// Returns whether the owner uses the queue. Foreign clients, except JVMs, take a free lock
    /// without it.
    bool queues(const std::string& owner) const {
        return world_.client_of(owner) >= 0 || owner.starts_with("jvm:");
    }

    void check(int name, const std::string& taker, const std::vector<std::string>& queue) {
        for (const std::string& owner : queue) {
            if (owner == taker)
                return;
            if (world_.client_of(owner) >= 0 && !gave_up_.contains(owner) && counts(owner))
                world_.violated("order", name, taker + " has overtaken " + owner);
        }
    }

    /// Returns whether the waiter still has its entry in the queue. Each poll prolongs the entry. A
    /// poll after its end gets a new entry at the end of the queue.
    bool counts(const std::string& owner) const {
        const auto looks = looks_.find(owner);
        if (looks == looks_.end() || !world_.server_is_faithful())
            return false;
        // The server's clock may be too fast by one percent.
        const duration timeout = world_.how.waiter_timeout();
        const duration lasts = timeout - timeout / 50;
        std::vector<time_point> arrivals = looks->second;
        std::ranges::sort(arrivals);
        std::optional<time_point> kept_until;
        for (const time_point each : arrivals) {
            if (each > world_.clock.now())
                break;
            if (kept_until && each >= *kept_until)
                return false;
            kept_until = each + lasts;
        }
        return kept_until && *kept_until > world_.clock.now();
    }

    world& world_;
    std::vector<state> seen_; ///< last state of each name
    world::server_stamp seen_at_{};
    by_text<bool> gave_up_;                  ///< owners that have given up
    by_text<std::vector<time_point>> looks_; ///< arrival times of the polls of each owner
};

} // namespace holdfast::sim
