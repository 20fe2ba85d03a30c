// SPDX-License-Identifier: Apache-2.0
// What one seed makes of the world: who is there, what they do, and what goes wrong.
#pragma once

#include "sim/dice.hpp"
#include "sim/network.hpp"
#include "sim/world.hpp"

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace holdfast::sim {

/// How often programs do what, in per cent, and how long it takes them.
struct habits {
    int recursive = 0;   ///< a recursive_mutex
    int own_lease = 20;  ///< the lock object has a lease time of its own
    int fixed = 0;       ///< with a lease time, not renewed
    int impatient = 0;   ///< one attempt
    int timed = 0;       ///< of the patient
    int cancels = 0;     ///< of any operation
    int drops = 0;       ///< the lease is destroyed instead of released
    int outlasts = 0;    ///< holds for several lease times
    int extends = 0;     ///< per stage of a hold
    int asks = 0;        ///< likewise: is it locked, for how long
    int re_enters = 0;   ///< likewise
    int forces = 0;      ///< somebody's hold, instead of taking it
    int reacts = 0;      ///< releases when in danger, asks anew when lost, inside the callback
    int throws_away = 0; ///< destroys the lock object while it waits
    int blunders = 0;    ///< its handler throws
    int renews = 0;      ///< re-enters a fixed lease as a blocking lock() does: then it is renewed
    int reads = 50;      ///< shares the lock, where it can be shared
    int upgrades = 0;    ///< per stage of a hold: writes on top of it
    int downgrades = 0;  ///< likewise: goes on reading
    int amount = 3;      ///< of permits, and the count of a latch: at most
    int drains = 0;      ///< takes all permits
    int adds = 0;        ///< makes more permits, or fewer
    int sets = 0;        ///< makes a counter that there may be
    duration pause{};    ///< between two deeds, at most
    duration holds{};    ///< at most
    duration patience{};
};

/// What befalls the server and the programs; zero: never, else the usual pause between two.
struct mishaps {
    duration cuts{};
    duration cut_lasts{}; ///< at most
    duration closes{};    ///< a program ends, and another starts
    duration foreigners{};
    bool rude_foreigners = false; ///< take it from whoever holds it
    duration silences{};          ///< a connection dies without a word
    duration silence_lasts{};
    duration denials{};            ///< a name is not allowed for a while, and its neighbours are
    duration strangers{};          ///< a JVM comes to a fair lock
    duration server{};             ///< one of the following
    duration failovers{};          ///< where there are replicas: so is the next
    duration replicas{};           ///< one of them stands still, or falls behind
    bool promotes_best = false;    ///< the replica that has most
    bool in_order = false;         ///< it is told to hand over, and all have all
    bool comes_back_empty = false; ///< who is restarted
    bool promotes_empty = false;
    bool restarts = false;
    bool evicts = false;
    bool steps = false;
    double rate = 1;
};

/// Number of visits after which an actor stops. Most actors make fewer than 100 visits before the
/// safety phase ends. An actor would make thousands only where each call fails at once.
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
    std::vector<std::optional<counter_kind>> counters{}; ///< which names are no locks
    fencing tokens = fencing::counted;
    bool shared = false; ///< locks that can be shared
    duration safety_phase{};
    int fair = 0; ///< so many of the names, from the first on, are fair locks
};

plan draw_plan(std::uint64_t seed);
/// Makes locks of all that has a name, of which there are `names`.
void keep_locks_only(plan&);
/// Who waits meets nothing but others.
void leave_in_peace(dice&, plan&);
std::ostream& operator<<(std::ostream&, const plan&);

} // namespace holdfast::sim
