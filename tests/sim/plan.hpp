// SPDX-License-Identifier: Apache-2.0
// Plan of a simulation, drawn from its seed: the locks, the programs, their actions, and the
// faults.
#pragma once

#include "sim/dice.hpp"
#include "sim/network.hpp"
#include "sim/world.hpp"

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace holdfast::sim {

/// Frequency of each action of the simulated programs, in percent, and lengths of time.
struct habits {
    int recursive = 0;   ///< uses a recursive_mutex
    int own_lease = 20;  ///< creates a lock object with its own lease time
    int fixed = 0;       ///< asks for a lease that is not renewed
    int impatient = 0;   ///< makes only one attempt
    int timed = 0;       ///< uses a timeout; in percent of the calls that may wait
    int cancels = 0;     ///< cancels an operation
    int drops = 0;       ///< destroys the lease instead of releasing it
    int outlasts = 0;    ///< holds the lock for longer than its lease
    int extends = 0;     ///< extends the lease; several times a hold
    int asks = 0;        ///< asks whether the lock is held and for how long; several times a hold
    int re_enters = 0;   ///< takes the lock again; several times a hold
    int forces = 0;      ///< releases the lock of another caller by force
    int reacts = 0;      ///< releases the lock when in danger, and asks again when it is lost
    int throws_away = 0; ///< destroys the lock object while it waits
    int blunders = 0;    ///< uses a handler that throws
    /// takes a lock with a fixed lease again without a lease time, so that it is renewed from then
    /// on
    int renews = 0;
    int reads = 50;     ///< takes the read lock, if there is one
    int upgrades = 0;   ///< takes the write lock in addition to the read lock; several times a hold
    int downgrades = 0; ///< changes a write lock to a read lock; several times a hold
    int amount = 3;     ///< maximum number of permits, and maximum count of a latch
    int drains = 0;     ///< takes all permits
    int adds = 0;       ///< adds or removes permits
    int sets = 0;       ///< sets a counter, which may exist already
    duration pause{};   ///< maximum pause between two actions
    duration holds{};   ///< maximum duration of a hold
    duration timeout{};
};

/// Usual pause between two faults of each kind. Zero: this fault never happens.
struct mishaps {
    duration cuts{};
    duration cut_lasts{}; ///< maximum duration of a cut
    duration closes{};    ///< a program ends, and another program starts
    duration foreigners{};
    bool rude_foreigners = false; ///< other programs take the lock away from its holder
    duration silences{};          ///< a connection dies silently
    duration silence_lasts{};
    /// a permission for one name is missing for a while
    duration missing_permissions{};
    duration strangers{};          ///< a JVM asks for a fair lock
    duration server{};             ///< a fault of the server: see the fields below
    duration failovers{};          ///< a failover; needs replicas
    duration replicas{};           ///< a replica stops or falls behind; needs replicas
    bool promotes_best = false;    ///< a failover promotes the replica with the most data
    bool in_order = false;         ///< a failover is ordered, when all replicas have all data
    bool comes_back_empty = false; ///< a restarted machine has lost its data
    bool promotes_empty = false;
    bool restarts = false;
    bool evicts = false;
    bool steps = false;
    double rate = 1;
};

/// Number of locks that a simulated caller takes before it stops. Most take fewer than 100. Only a
/// caller whose calls all fail at once would try thousands of times.
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
    std::vector<lock_kind> kinds{}; ///< kind of lock of each name
    /// kind of counter of each name; empty: the name is a lock
    std::vector<std::optional<counter_kind>> counters{};
    fencing tokens = fencing::counted;
    bool shared = false; ///< whether the locks are read-write locks
    duration safety_phase{};
    int fair = 0; ///< number of names with fair locks; these are the first names
};

plan draw_plan(std::uint64_t seed);
/// Removes all counters: all names become locks.
void keep_locks_only(plan&);
/// Removes all faults, so that a waiter competes only with other waiters.
void leave_in_peace(dice&, plan&);
std::ostream& operator<<(std::ostream&, const plan&);

// Special plans (plots) with combinations that random faults would hardly ever produce.

/// By chance, leaves the plan as it is, makes all events more frequent, or makes it a special plan
/// (plot). Returns whether it is a special plan.
bool draw_more(dice, plan&);

/// Draws the kind of lock for each name.
void draw_families(dice, plan&);

} // namespace holdfast::sim
