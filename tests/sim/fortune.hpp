// SPDX-License-Identifier: Apache-2.0
// Random faults of the server, the connections and the programs in a simulation, and failovers.
#pragma once

#include "sim/plan.hpp"

#include <string>
#include <vector>

namespace holdfast::sim {

class fortune {
public:
    fortune(world&, const plan&, time_point end);

    void begin();                      ///< starts the faults of the plan, which happen until `end`
    void heal();                       ///< ends all faults
    void rest() { restless_ = false; } ///< stops adding permits for dead clients

private:
    asio::awaitable<void> cut(seat&, dice);
    asio::awaitable<void> replace(seat&, dice);
    asio::awaitable<void> silence(seat&, dice);
    asio::awaitable<void> deny(seat&, dice);
    asio::awaitable<void> occupy(dice);
    asio::awaitable<void> send_strangers(dice);
    asio::awaitable<void> live_as_stranger(int name, std::string owner, dice);
    void bury_strangers();
    void count_as_stranger(int name, dice&);
    asio::awaitable<void> keep_counters_useful();
    asio::awaitable<void> reconnect(seat&, duration takes);
    asio::awaitable<void> trouble_server(dice);
    bool over() const { return world_.clock.now() >= end_; }
    asio::awaitable<void> pause(dice&, duration usual);

    world& world_;
    const plan& plan_;
    const time_point end_;
    struct dead_stranger {
        int name;
        std::string owner;
        duration wait;
    };
    std::vector<dead_stranger> dead_;
    bool restless_ = true;
};

/// Ends a simulated program: closes its client and then destroys it, as its user would.
asio::awaitable<void> close_program(world&, seat&);

/// Failovers of a primary to its replicas:
///
///     replication fails or falls behind ──▶ the primary dies, is stopped, is cut off, or is told
///      ──▶ a replica is promoted ──▶ clients hear of it, sooner or later
///      ──▶ the others follow it; the old primary learns of it, or comes back
class succession {
public:
    succession(world&, const plan&, time_point end);

    void begin();
    void heal(); ///< makes all replicas follow the primary, and all clients know it

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
    int choose(dice&) const; ///< returns the number of the next primary; -1: none
    asio::awaitable<void> pause(duration);
    bool over() const { return world_.clock.now() >= end_; }

    world& world_;
    replica_set& all_;
    const plan& plan_;
    const time_point end_;
};

} // namespace holdfast::sim
