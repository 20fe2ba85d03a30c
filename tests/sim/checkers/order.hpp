// SPDX-License-Identifier: Apache-2.0
// Checker: a fair lock is granted in the order of its queue. No client overtakes a waiter of ours
// in the queue, unless that waiter could not poll for as long as its place lasts.
#pragma once

#include "sim/world.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

class order {
public:
    explicit order(world& w)
        : world_{w}
        , seen_(static_cast<std::size_t>(w.how.fair)) {}

    void sent(const memory::request& r, const memory::fate& f) {
        const bool arrives = !f.refused && !f.overloaded && !f.denied && !f.request_lost;
        if (r.what == memory::verb::release && arrives && !details_of(r).counted)
            // the server may carry out the release at once
            gave_up_[world_.text_of(r.holds[0].owner)] = true;
        if (r.what == memory::verb::look && arrives &&
            f.request_delay <= world_.how.command_timeout)
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
        seen_at_ = stamp;
        for (int name = 0; name < world_.how.fair; ++name) {
            state now{world_.holder(name), world_.waiting(name)};
            state& before = seen_[static_cast<std::size_t>(name)];
            if (now.holder != before.holder && queues(now.holder))
                check(name, now.holder, before.queue);
            before = std::move(now);
        }
    }

private:
    struct state {
        std::string holder{};
        std::vector<std::string> queue{};
    };

    /// Returns whether the owner uses the queue. A foreign client takes a free lock without
    /// queueing.
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

    /// Returns whether the waiter still has its position in the queue. The position lasts for a
    /// time after the server has executed a poll.
    bool counts(const std::string& owner) const {
        const auto looks = looks_.find(owner);
        if (looks == looks_.end() || !world_.server_is_faithful())
            return false;
        // The speed of the server's clock may be wrong by one percent.
        const duration timeout = world_.how.waiter_timeout();
        const duration lasts = timeout - timeout / 50;
        return std::ranges::any_of(looks->second, [&](time_point each) {
            return each <= world_.clock.now() && each + lasts > world_.clock.now();
        });
    }

    world& world_;
    std::vector<state> seen_; ///< last state of each name
    world::server_stamp seen_at_{};
    by_text<bool> gave_up_;                  ///< owners that have given up
    by_text<std::vector<time_point>> looks_; ///< arrival times of the polls of each owner
};

} // namespace holdfast::sim
