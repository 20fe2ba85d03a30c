// SPDX-License-Identifier: Apache-2.0
// Checker: in any interval, no more is drawn from a rate limiter than its rate allows. The draws
// are counted here from the requests that the server has carried out, by the server's clock.
#pragma once

#include "sim/world.hpp"
#include "store/memory/server_state.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace holdfast::sim {

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
            if (r.granted && is_first(r)) // a refused request is not remembered
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

    /// Returns whether the request is new for the server. A request is new again after the server
    /// has forgotten it.
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

    /// Removes expired draws. An expired draw stays expired even if the clock is stepped back.
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
                return; // a repeated request whose draw counts already
            sum += each.permits;
        }
        all.push_back({want.request, want.amount, r.at});
        if (sum > of.how.permits)
            world_.violated("window", name,
                            std::to_string(sum) + " permits were drawn within " +
                                std::to_string(of.how.per.count()) + " ms, of " +
                                std::to_string(of.how.permits));
    }

    /// Applies a change of the limiter. A new rate forgets all draws. Permits that are given back
    /// are subtracted from the last draws.
    void change(limiter& of, const counter_change& what, std::chrono::microseconds now) {
        switch (what.verb) {
        case counter_verb::set: // the draws that other clients made for themselves still count
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

} // namespace holdfast::sim
