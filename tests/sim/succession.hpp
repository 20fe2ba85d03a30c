// SPDX-License-Identifier: Apache-2.0
// Failovers of a primary to its replicas during the safety phase.
//
//     replication fails or falls behind ──▶ the primary dies, is stopped, is cut off, or is told
//      ──▶ a replica is promoted ──▶ clients hear of it, sooner or later
//      ──▶ the others follow it; the old primary learns of it, or comes back
#pragma once

#include "sim/plan.hpp"

namespace holdfast::sim {

class succession {
public:
    succession(world&, const plan&, time_point end);

    void begin();
    void heal(); ///< makes all replicas follow the primary and all clients hear of it

private:
    enum class fate { dies, stands_still, is_cut_off, is_told };

    asio::awaitable<void> reign(dice);
    asio::awaitable<void> succeed(dice&);
    asio::awaitable<void> neglect_replicas(dice&);
    void attend_replicas();
    duration until_sent_all() const;
    asio::awaitable<void> hand_over(dice&, fate, int next);
    asio::awaitable<void> old_one_learns(dice, fate, int old);
    asio::awaitable<void> follow(dice, int machine);
    asio::awaitable<void> disturb(dice);
    asio::awaitable<void> disturb_one(dice&, int replica);
    int choose(dice&) const; ///< number of the next primary; -1: none
    asio::awaitable<void> pause(duration);
    bool over() const { return world_.clock.now() >= end_; }

    world& world_;
    replica_set& all_;
    const plan& plan_;
    const time_point end_;
};

} // namespace holdfast::sim
