// SPDX-License-Identifier: Apache-2.0
// Checkers of counters: permits, rates and latches.
#pragma once

#include "sim/world.hpp"
#include "store/memory/server_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::memory {
struct count_record;
} // namespace holdfast::memory

namespace holdfast::sim {

/// Checker: a semaphore does not grant more permits than it has. (The number of permits may become
/// smaller than the number of held permits only by a later change.)
class capacity {
public:
    explicit capacity(world& w)
        : world_{w} {}

    void counted(int name, const memory::count_record& r) {
        if (world_.how.counts(name) == counter_kind::permits)
            known_[name].saw(std::max(r.before, r.after).value_or(0));
    }
    void look() {
        for (int name = 0; name < world_.names(); ++name)
            if (world_.how.counts(name) == counter_kind::permits)
                look_at(name);
    }

private:
    using leases = std::map<std::string, duration>; // remaining lease of each permit
    struct semaphore {
        std::int64_t most = 0; ///< greatest total number of permits since the last check
        leases held{};
        void saw(std::int64_t all) { most = std::max(most, all); }
    };

    void look_at(int name) {
        semaphore& last = known_[name];
        const leases& held = world_.seen(name).permits;
        const std::int64_t all = world_.counter(name).value_or(0);
        last.saw(all);
        const auto is_new = [&](const auto& each) { return !last.held.contains(each.first); };
        const auto count = static_cast<std::int64_t>(held.size());
        // After a step back of the clock, an expired permit is held again.
        const bool grows = world_.stepped_back() == duration{} && std::ranges::any_of(held, is_new);
        if (grows && count > last.most)
            world_.violated("capacity", name,
                            std::to_string(count) + " permits are held, of " +
                                std::to_string(last.most));
        if (count != static_cast<std::int64_t>(last.held.size()) ||
            std::ranges::any_of(held, is_new))
            last.held = held;
        last.most = all;
    }

    world& world_;
    std::map<int, semaphore> known_; ///< semaphore of each name
};

/// Checker: no permits are created or lost. Each request changes the counter exactly once, and
/// callers are told the change that the server has made. Draws from a rate limiter are checked,
/// too, although they expire by themselves (see `window`).
class conservation {
public:
    explicit conservation(world&);

    void sent(const memory::request&, const memory::fate&);
    /// called when the server has executed the request
    void counted(int name, const memory::count_record&);
    void completed(const operation&, outcome);
    void look();
    void forgotten(); ///< forgets the expected values of all counters
    void evicted(int name);
    void at_peace();

private:
    /// Expected value of a counter, computed from all requests.
    struct number {
        std::optional<std::int64_t> value{};
        std::chrono::microseconds ends_at = std::chrono::microseconds::max();
    };
    /// Effects of a request so far.
    struct request {
        std::chrono::microseconds at{}; ///< time of the request's first effect
        bool done = false;
        /// its permits were given back, so a late copy must take nothing
        bool given_back = false;
        bool moved = false;     ///< whether the request has changed the number
        bool copied = false;    ///< whether the attempt was sent twice
        bool unnoticed = false; ///< whether it took permits after it was sent twice
    };
    /// Changes of one counter by one program: as the server made them, and as the callers were
    /// told, at least and at most.
    struct account {
        std::int64_t at_server = 0;
        std::int64_t least = 0;
        std::int64_t most = 0;
        /// Permits taken by requests that arrived twice. If the first copy found too few, the
        /// caller may have given up before the second copy took them. They are lost then, as if a
        /// client had taken them and died.
        std::int64_t unnoticed = 0;
    };

    std::optional<std::int64_t> expected(int name, std::chrono::microseconds now) const;
    void take(int name, const memory::count_record&);
    void give_back(int name, const memory::count_record&);
    void change(int name, const memory::count_record&);
    void draw(int name, const memory::count_record&);
    bool forgets(request&, const memory::count_record&);
    /// returns whether the sums of this program can be checked
    bool is_of_use(int name, const std::string& program) const;
    account& account_of(const std::string& program, int name) { return accounts_[{program, name}]; }
    std::pair<std::int64_t, std::int64_t> told(const operation&, outcome) const;
    void fail(int name, const std::string& story);

    world& world_;
    std::vector<number> numbers_; ///< expected value of each name
    std::map<std::string, request> requests_;
    std::map<std::pair<std::string, int>, account> accounts_;
    std::set<std::string> doubted_; ///< programs with requests that the server may have executed
                                    ///< twice
};

/// Checker: in any interval, callers draw no more from a rate limiter than its rate allows. Counts
/// the draws in the requests that the server has executed, by the server's clock.
class window {
public:
    explicit window(world& w)
        : world_{w} {}

    void counted(int name, const memory::count_record& r) {
        if (world_.how.counts(name) != counter_kind::rate)
            return;
        limiter& of = limiters_[name];
        if (r.taken)
            let_go(of, r.at);
        if (r.changed) {
            if (r.granted && is_first(r)) // the server does not remember a refused change
                change(of, *r.changed, r.at);
        } else if (r.given_back) {
            forget(of.drawn[drawer(of, r.given_back->request)], r.given_back->request);
        } else if (r.granted) {
            draw(name, of, r);
        }
    }
    void forgotten() {
        limiters_.clear();
        done_at_.clear();
    }
    void evicted(int name) { limiters_.erase(name); }

private:
    struct drawn {
        owner_id by;
        std::int64_t permits;
        std::chrono::microseconds at;
    };
    using draws = std::vector<drawn>; // draws, oldest first
    struct limiter {
        rate how{};
        /// draws of each client, if each client has its own rate
        std::map<std::string, draws> drawn{};
    };

    /// Returns whether the server does not know the request: it is new, or the server has forgotten
    /// it.
    bool is_first(const memory::count_record& r) {
        constexpr std::chrono::microseconds remembered = std::chrono::minutes{1};
        const auto [known, is_new] = done_at_.try_emplace(to_string(r.changed->request), r.at);
        return is_new || r.at - known->second >= remembered;
    }

    static std::string drawer(const limiter& of, const owner_id& request) {
        const std::string all = to_string(request);
        return of.how.scope == rate::scope_of::per_client ? all.substr(0, all.rfind(':')) : "";
    }
    static void forget(draws& all, const owner_id& request) {
        std::erase_if(all, [&](const drawn& each) { return each.by == request; });
    }

    /// Removes expired draws. They stay expired after a step back of the clock.
    static void let_go(limiter& of, std::chrono::microseconds now) {
        for (auto& [who, all] : of.drawn)
            std::erase_if(all, [&](const drawn& each) { return each.at <= now - of.how.per; });
    }

    void draw(int name, limiter& of, const memory::count_record& r) {
        const counter_ask& want = *r.taken;
        draws& all = of.drawn[drawer(of, want.request)];
        std::int64_t sum = want.amount;
        for (const drawn& each : all) {
            if (each.by == want.request)
                return; // a repeated request; its draw is counted already
            sum += each.permits;
        }
        all.push_back({want.request, want.amount, r.at});
        if (sum > of.how.permits)
            world_.violated("window", name,
                            std::to_string(sum) + " permits were drawn within " +
                                std::to_string(of.how.per.count()) + " ms, of " +
                                std::to_string(of.how.permits));
    }

    /// Applies a change of the limiter: a new rate deletes all draws, and returned permits are
    /// subtracted from the last draws.
    void change(limiter& of, const counter_change& what, std::chrono::microseconds now) {
        switch (what.verb) {
        case counter_verb::set: // draws of other clients from their own rates still count
            let_go(of, now);    // but not if they have expired under the rate before
            of.how = what.to;
            of.drawn.erase("");
            of.drawn.erase(drawer({.how = {.scope = rate::scope_of::per_client}}, what.request));
            let_go(of, now);
            break;
        case counter_verb::set_new:
            if (of.how.permits == 0)
                of = {.how = what.to};
            break;
        case counter_verb::erase:
            of = {};
            break;
        default:
            let_go(of, now);
            give_back(of.drawn[drawer(of, what.request)], what.amount);
        }
    }
    static void give_back(draws& all, std::int64_t permits) {
        while (permits > 0 && !all.empty()) {
            const std::int64_t part = std::min(permits, all.back().permits);
            permits -= part;
            all.back().permits -= part;
            if (all.back().permits == 0)
                all.pop_back();
        }
    }

    world& world_;
    std::map<int, limiter> limiters_; ///< limiter of each name
    /// time of each change, by request
    std::map<std::string, std::chrono::microseconds> done_at_{};
};

/// Checker: a waiter for a latch continues when the latch is open, and not before. When it
/// continues, all waiters of its program continue that were waiting when it asked the server.
class opening {
public:
    explicit opening(world& w)
        : world_{w}
        , open_at_(static_cast<std::size_t>(w.names())) {}

    void sent(const seat& from, const memory::request& r) {
        if (r.what != memory::verb::count)
            return;
        const counter_ask& want = *details_of(r).counted;
        if (want.kind != counter_kind::latch)
            return;
        looks& of = looks_[{from.number, world::number_of(r.name)}];
        if (of.seen && of.last != world_.clock.now())
            of = {world_.clock.now(), of.last, of.request, of.by_another_at};
        of.seen = false;
        if (of.request != want.request.number)
            of.by_another_at = world_.clock.now();
        of.request = want.request.number;
    }

    void counted(int name, const memory::count_record& r) {
        if (is_open(r.before) || is_open(r.after))
            open_at_[static_cast<std::size_t>(name)] = world_.clock.now();
        if (r.taken)
            looks_[{world_.client_of(to_string(r.taken->request)), name}].seen = true;
    }

    void completed(const operation& o, outcome how) {
        if (o.what != deed::wait || how != outcome::done)
            return;
        note_open(o.who.name);
        if (open_at_[static_cast<std::size_t>(o.who.name)] < o.started_at)
            fail(o, "was let through, and it has not been open since");
        let_through_.push_back(o);
    }

    void look() {
        for (int name = 0; name < world_.names(); ++name)
            note_open(name);
        for (const operation& first : let_through_)
            for (const auto& [id, other] : world_.books.under_way())
                check_with(first, other);
        let_through_.clear();
    }

private:
    struct looks {
        time_point last{};
        time_point before{};        ///< time at which the check before that was sent
        std::uint64_t request = 0;  ///< number of the last check
        time_point by_another_at{}; ///< last time at which another call than before sent a check
        /// false if the check came too late, so that the next request repeats it
        bool seen = true;
    };

    static bool is_open(const std::optional<std::int64_t>& count) { return count.value_or(0) <= 0; }

    void note_open(int name) {
        if (world_.how.counts(name) == counter_kind::latch && is_open(world_.counter(name)))
            open_at_[static_cast<std::size_t>(name)] = world_.clock.now();
    }

    /// Checks that a waiting call ends together with another call of its program that has ended
    /// now. Without delays, the last check before now has seen the latch open. This holds only if
    /// one call has made all checks: a call that checks by itself waits for its own reply.
    void check_with(const operation& first, const operation& other) {
        const int client = first.who.client;
        const bool stood_beside = other.what == deed::wait && other.who.client == client &&
                                  other.who.name == first.who.name &&
                                  other.generation == first.generation;
        if (!stood_beside || !world_.seats[static_cast<std::size_t>(client)].net.flawless() ||
            !world_.server_is_faithful())
            return;
        const looks& of = looks_[{client, first.who.name}];
        if (of.by_another_at >= std::min(first.started_at, other.started_at))
            return;
        const time_point looked = of.last < world_.clock.now() ? of.last : of.before;
        if (other.started_at < looked)
            fail(other, "was not let through with another one of its program");
    }

    void fail(const operation& o, const std::string& what) {
        world_.violated("opening", o.who.name,
                        "client" + std::to_string(o.who.client) + "." +
                            std::to_string(o.who.actor) + " " + what);
    }

    world& world_;
    std::vector<time_point> open_at_;            ///< last time at which each latch was open
    std::map<std::pair<int, int>, looks> looks_; ///< checks by client and name
    /// operations that passed the latch at this moment
    std::vector<operation> let_through_;
};

/// Checker: waiters for a counter do not starve. If there are enough permits for all of them, or
/// the latch is open, their calls end soon.
class served {
public:
    explicit served(world& w)
        : world_{w}
        , enough_since_(static_cast<std::size_t>(w.names())) {}

    void look() {
        for (int name = 0; name < world_.names(); ++name) {
            std::optional<time_point>& since = enough_since_[static_cast<std::size_t>(name)];
            if (!world_.how.counts(name) || !is_enough(name))
                since.reset();
            else if (!since)
                since = world_.clock.now();
            if (since)
                check(name, *since);
        }
    }

private:
    bool is_enough(int name) const {
        const std::int64_t count = world_.available(name);
        if (world_.how.counts(name) == counter_kind::latch)
            return count <= 0;
        if (world_.how.counts(name) == counter_kind::rate && world_.is_drawn_by_each(name))
            return false;
        std::int64_t wanted = 0;
        for (const auto& [id, o] : world_.books.under_way())
            wanted += o.what == deed::acquire && o.who.name == name ? o.amount : 0;
        return count >= wanted;
    }

    void check(int name, time_point enough_since) {
        for (const auto& [id, o] : world_.books.under_way()) {
            const network& net = world_.seats[static_cast<std::size_t>(o.who.client)].net;
            const time_point since = std::max({enough_since, o.started_at, net.troubled_until()});
            if (o.who.name == name && counts(o.what) && !net.cut_off() &&
                world_.clock.now() - since > within(net, o))
                world_.violated("liveness", name,
                                "there is enough of it, and client" + std::to_string(o.who.client) +
                                    "." + std::to_string(o.who.actor) + " still waits after " +
                                    std::to_string((world_.clock.now() - since).count()) + " ms");
        }
    }

    /// Returns the time within which a waiter must be served. If a latch opens and nothing goes
    /// wrong, all waiters get a notification. Free permits notify only the first waiters, and one
    /// that has just given up passes its notification to nobody. So the next waiter must poll.
    duration within(const network& net, const operation& o) const {
        const bool all_told = o.what == deed::wait && net.flawless() && world_.server_is_faithful();
        constexpr duration longest_pause{1000};
        const duration round_trips = 16 * net.latency() + duration{50};
        return round_trips + (all_told ? world_.how.poll_bound / 50 + duration{200}
                                       : world_.how.poll_bound + longest_pause);
    }

    world& world_;
    /// time since which enough permits are free, by name
    std::vector<std::optional<time_point>> enough_since_;
};

} // namespace holdfast::sim
