// SPDX-License-Identifier: Apache-2.0
// The world of one seed: its programs, their actions, and the faults.
#pragma once

#include "sim/dice.hpp"
#include "sim/network.hpp"
#include "sim/world.hpp"

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace holdfast::sim {

/// How often programs do each action, in percent, and how long it takes.
struct habits {
    int recursive = 0;   ///< uses a recursive_mutex
    int own_lease = 20;  ///< the lock object has its own lease time
    int fixed = 0;       ///< asks for a lease that is not renewed
    int impatient = 0;   ///< makes only one attempt
    int timed = 0;       ///< uses a timeout, in percent of the other calls
    int cancels = 0;     ///< cancels an operation
    int drops = 0;       ///< destroys the lease instead of releasing it
    int outlasts = 0;    ///< holds for several lease times
    int extends = 0;     ///< per stage of a hold
    int asks = 0;        ///< per stage: asks whether the lock is held, and for how long
    int re_enters = 0;   ///< per stage
    int forces = 0;      ///< forces another caller's hold, instead of taking the lock
    int reacts = 0;      ///< releases when in danger, and asks again when lost, inside the callback
    int throws_away = 0; ///< destroys the lock object while it waits
    int blunders = 0;    ///< its handler throws
    int renews = 0;      ///< re-enters a fixed lease as a blocking lock() does, after which it is
                         ///< renewed
    int reads = 50;      ///< shares the lock, if it can be shared
    int upgrades = 0;    ///< per stage of a hold: writes on top of it
    int downgrades = 0;  ///< per stage: continues to read
    int amount = 3;      ///< maximum number of permits, and maximum count of a latch
    int drains = 0;      ///< takes all permits
    int adds = 0;        ///< adds or removes permits
    int sets = 0;        ///< creates a counter, which may exist already
    duration pause{};    ///< maximum pause between two actions
    duration holds{};    ///< maximum time of a hold
    duration patience{};
};

/// Faults of the server and the programs. Zero means never; otherwise the usual pause between two
/// faults.
struct mishaps {
    duration cuts{};
    duration cut_lasts{}; ///< maximum length
    duration closes{};    ///< a program ends, and another starts
    duration foreigners{};
    bool rude_foreigners = false; ///< take the lock from its holder
    duration silences{};          ///< a connection dies silently
    duration silence_lasts{};
    duration denials{};            ///< a name is not allowed for a while, while other names are
    duration strangers{};          ///< a JVM comes to a fair lock
    duration server{};             ///< one of the faults below
    duration failovers{};          ///< only with replicas, like the next one
    duration replicas{};           ///< a replica stops or falls behind
    bool promotes_best = false;    ///< promotes the replica that has the most data
    bool in_order = false;         ///< an ordered failover, in which all replicas have all data
    bool comes_back_empty = false; ///< a restarted server has lost its data
    bool promotes_empty = false;
    bool restarts = false;
    bool evicts = false;
    bool steps = false;
    double rate = 1;
};

/// Number of visits after which an actor stops. Most actors make fewer than 100 visits before the
/// safety phase ends. An actor makes thousands only if each call fails at once.
constexpr int visits_max = 200;

struct plan {
    std::uint64_t seed;
    rules how;
    weather usual;
    habits people;
    mishaps fate;
    int clients = 2;
    int actors = 2;
    int names = 1;
    std::vector<lock_kind> kinds{};                      ///< of each name
    std::vector<std::optional<counter_kind>> counters{}; ///< kind of each name that is a counter
    fencing tokens = fencing::counted;
    bool shared = false; ///< the locks can be shared
    duration safety_phase{};
    int fair = 0; ///< number of names, from the first one, that are fair locks
};

plan draw_plan(std::uint64_t seed);
/// Makes all names locks.
void keep_locks_only(plan&);
/// Removes all faults, so that a waiter meets only other waiters.
void leave_in_peace(dice&, plan&);
std::ostream& operator<<(std::ostream&, const plan&);

} // namespace holdfast::sim
